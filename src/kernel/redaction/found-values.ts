/**
 * Values of secrets that were found in one answer, which are hidden wherever else they stand in it.
 *
 * A value is found by what is written beside it; where it stands again without that, only the value itself tells.
 */
import type { Finding, KnownSecret } from "../../redact/redact.ts";

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
