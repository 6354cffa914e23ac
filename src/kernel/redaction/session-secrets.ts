/**
 * Remembers what sessions have been shown to be secret, so that it stays hidden in whatever form it comes again.
 *
 * INVARIANT: memory is bounded, and nothing is remembered of a session but values that a rule knows for certain.
 */
import type { KnownSecret } from "../../redact/redact.ts";
import { NAME_CHARACTERS_MAX } from "./known-names.ts";

/** Values of one session: each is looked for in everything that leaves for it. */
const VALUES_MAX = 16;
/** Sessions of which something is remembered; beyond it the one that was remembered first is forgotten. */
const SESSIONS_MAX = 256;

/** What is known of sessions, by their tokens; one per kernel process. */
export class SessionSecrets {
  readonly #sessions = new Map<string, readonly KnownSecret[]>();

  /** The secrets that the kernel holds for calls with that token: the token, and what was found for it. */
  of(token: string): readonly KnownSecret[] {
    return this.#sessions.get(token) ?? [own(token)];
  }

  /** Remembers what was found for certain in an answer of that session. */
  remember(token: string, found: readonly KnownSecret[]): void {
    const known = this.of(token);
    // a shorter one is found by its format, and would have every short name looked at again
    const fresh = found.filter(
      ({ value }) => value.length > NAME_CHARACTERS_MAX && !known.some((one) => one.value === value),
    );
    const room = VALUES_MAX + 1 - known.length;
    if (fresh.length === 0 || room <= 0) return;
    this.#sessions.set(token, [...known, ...fresh.slice(0, room)]);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= SESSIONS_MAX) break;
      this.#sessions.delete(oldest);
    }
  }
}

function own(token: string): KnownSecret {
  return { rule: "session-token", value: token };
}
