/**
 * Keeps what is the same for all requests with one session token: options, and the texts of the modern era.
 *
 * It decides nothing: each request is admitted by the kernel before. INVARIANT: their number is bounded, and the one
 * that was used longest ago gives way.
 */

import type { LibrarySource } from "../library.ts";
import { ModernEra } from "../modern.ts";
import type { McpOptions } from "../protocol/options.ts";
import { sourceOf } from "../session-source.ts";

/** Tokens whose texts are kept. */
const PRINCIPALS_MAX = 1024;

/** What serves one session token. */
export interface Principal {
  readonly options: McpOptions;
  readonly source: LibrarySource;
  readonly modern: ModernEra;
  /** What ends the requests and relays that are open now. */
  readonly open: Set<() => void>;
  /** Relays that are joined now. */
  lines: number;
}

/** The principals by their tokens. */
export class Principals {
  readonly #kept = new Map<string, Principal>();

  /** The principal of `token`, made by `options` when it is new. */
  of(token: string, options: () => McpOptions): Principal {
    const known = this.#kept.get(token);
    if (known !== undefined) {
      this.#kept.delete(token);
      this.#kept.set(token, known);
      return known;
    }
    const made = principalOf(options());
    this.#kept.set(token, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > PRINCIPALS_MAX && oldest !== undefined) this.forget(oldest);
    return made;
  }

  /** The tokens for which something is open or at work. */
  get busy(): readonly string[] {
    return [...this.#kept].flatMap(([token, { open, modern }]) => (open.size > 0 || modern.isAtWork ? [token] : []));
  }

  /** Forgets the principal of a token that is none any more, and ends what is open of it. */
  end(token: string): void {
    for (const end of this.#kept.get(token)?.open ?? []) end();
    this.forget(token);
  }

  /** Forgets the principal of a token; what is open of it goes on. */
  forget(token: string): void {
    this.#kept.get(token)?.modern.close();
    this.#kept.delete(token);
  }

  /** Forgets all of them. */
  close(): void {
    for (const token of [...this.#kept.keys()]) this.forget(token);
  }
}

function principalOf(options: McpOptions): Principal {
  const source = sourceOf(options);
  return { options, source, modern: new ModernEra(source), open: new Set(), lines: 0 };
}
