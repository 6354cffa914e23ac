/**
 * Values of secrets that were found once, to be hidden wherever else they stand in answer and session.
 *
 * A value is found by what is written beside it; where it stands again without that, only the value itself tells.
 * INVARIANT: memory is bounded, and nothing is remembered of a session but values that a rule knows for certain.
 */
import type { Finding, KnownSecret } from "../../redact/redact.ts";
import { NAME_CHARACTERS_MAX } from "./known-names.ts";

/** Values that are looked for again: each has a dozen forms, and all of them are looked for in all of the answer. */
const VALUES_MAX = 32;
/** Characters of a value that is looked for again: fewer are parts of other words. */
const CHARACTERS_MIN = 8;
/** Characters of a longer one, which is known by its first lines anyway. */
const CHARACTERS_MAX = 8192;

/** The values that one answer has shown to be secret. */
export class FoundValues {
  readonly #values = new Map<string, KnownSecret>();
  readonly #definite = new Set<string>();

  /** Takes what `findings` found in `text`. */
  take(text: string, findings: readonly Finding[]): void {
    for (const { rule, kind, start, end } of findings) {
      if (this.#values.size >= VALUES_MAX) return;
      const value = text.slice(start, end);
      if (!isTelling(value)) continue;
      if (kind === "definite") this.#definite.add(value);
      if (!this.#values.has(value)) this.#values.set(value, { rule, value });
    }
  }

  /** All of them, in the order in which they were found. */
  get all(): readonly KnownSecret[] {
    return [...this.#values.values()];
  }

  /** Those that are secrets for certain. */
  get definite(): readonly KnownSecret[] {
    return this.all.filter(({ value }) => this.#definite.has(value));
  }
}

/**
 * Whether a value is nothing but itself wherever it stands: words and numbers stand for other things, too, and what
 * holds a marker was hidden already.
 */
function isTelling(value: string): boolean {
  return (
    value.length >= CHARACTERS_MIN &&
    value.length <= CHARACTERS_MAX &&
    /[A-Za-z]/.test(value) &&
    /\d/.test(value) &&
    !value.includes("[REDACTED:")
  );
}

/** Values of one session: each is looked for in everything that leaves for it. */
const SESSION_VALUES_MAX = 16;
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
    const room = SESSION_VALUES_MAX + 1 - known.length;
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
