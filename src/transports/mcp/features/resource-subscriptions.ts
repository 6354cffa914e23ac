/**
 * Keeps the resources of which one client wants to hear changes.
 *
 * INVARIANTS: their number is limited; a resource that never changes costs nothing; after `close` nobody hears of any.
 */
import type { ResourceSource } from "../protocol/features.ts";

/** Resources of which one client hears. */
export const SUBSCRIPTIONS_MAX = 256;

/** What subscriptions are made from. */
export interface SubscriptionSource {
  readonly resources: ResourceSource;
  /** Calls `listener` after each change of the session's tools, until the returned function is called. */
  readonly watchTools: (listener: () => void) => () => void;
  /** Tells the client of a change. */
  readonly send: (uri: string) => void;
}

/** The subscriptions of one client. */
export class ResourceSubscriptions {
  readonly #source: SubscriptionSource;
  readonly #ends = new Map<string, () => void>();

  constructor(source: SubscriptionSource) {
    this.#source = source;
  }

  /** Begins to tell of a resource. @returns why not: there is no such resource, or there are too many already */
  add(uri: string): "unknown" | "too_many" | undefined {
    if (this.#ends.has(uri)) return undefined;
    const { resources, watchTools, send } = this.#source;
    const cause = resources.changesWith === undefined ? "never" : resources.changesWith(uri);
    if (cause === undefined) return "unknown";
    if (this.#ends.size >= SUBSCRIPTIONS_MAX) return "too_many";
    this.#ends.set(uri, cause === "tools" ? watchTools(() => send(uri)) : () => undefined);
    return undefined;
  }

  /** Ends one. */
  remove(uri: string): void {
    this.#ends.get(uri)?.();
    this.#ends.delete(uri);
  }

  /** Ends all of them. */
  close(): void {
    for (const uri of [...this.#ends.keys()]) this.remove(uri);
  }
}
