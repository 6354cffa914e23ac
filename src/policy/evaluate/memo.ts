/**
 * A bounded memo: the oldest entries go first. It belongs to one engine and dies with it, so it never outlives its
 * policies.
 */

/** Remembers up to `entriesMax` values. */
export class Memo<T> {
  readonly #entries = new Map<string, T>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** The value remembered under `key`. */
  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /** Remembers `value` under `key`. */
  set(key: string, value: T): void {
    if (this.#entries.size >= this.#entriesMax && !this.#entries.has(key)) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, value);
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
  }

  /** How many values are remembered. */
  get size(): number {
    return this.#entries.size;
  }
}
