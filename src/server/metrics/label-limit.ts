/** Bounds the values of a label, so that nobody can make more series than the operator's Prometheus bears. */

/** The value in place of those that do not fit. */
export const OTHER = "other";
const VALUE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** The values of one label: those that came first, and `other` for the rest. */
export class LabelLimit {
  readonly #known = new Set<string>();
  readonly #valuesMax: number;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  /** `value`, or `other` where it is no plain name or there are too many. */
  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#valuesMax || !VALUE.test(value)) return OTHER;
    this.#known.add(value);
    return value;
  }
}
