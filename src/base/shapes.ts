/**
 * Caches a value per object shape.
 *
 * A shape is the list of an object's member names. Most objects are of a few shapes, so what follows from the names
 * alone is computed once for each. The cache is bounded and holds no member values.
 *
 * INVARIANT: an answer is for exactly the names that were asked about.
 */

/** Shapes remembered at a time; a power of two. */
const SHAPES_MAX = 256;
/** Names of a shape that is remembered. */
const NAMES_MAX = 40;
/** Characters of a name that is remembered. */
const NAME_CHARACTERS_MAX = 40;

/** Names that were seen, and what follows from them once they came again: what comes only once is not worth more. */
interface Seen<T> {
  readonly names: readonly string[];
  known: T | undefined;
}

/** What follows from the names of members, by those names. */
export class Shapes<T> {
  readonly #seen: (Seen<T> | undefined)[] = new Array<undefined>(SHAPES_MAX).fill(undefined);

  /**
   * What `work` says of `names`, as `Object.keys` gives them; `undefined` for names that did not come lately, or where
   * `work` says so.
   */
  of(names: readonly string[], work: (names: readonly string[]) => T | undefined): T | undefined {
    if (names.length === 0 || names.length > NAMES_MAX) return undefined;
    const slot = slotOf(names);
    const seen = this.#seen[slot];
    if (seen !== undefined && areEqual(seen.names, names)) {
      seen.known ??= work(seen.names);
      return seen.known;
    }
    if (names.every((name) => name.length <= NAME_CHARACTERS_MAX))
      this.#seen[slot] = { names: [...names], known: undefined };
    return undefined;
  }
}

/** A few characters tell most shapes apart. */
function slotOf(names: readonly string[]): number {
  const first = names[0] as string;
  const last = names[names.length - 1] as string;
  const sum = names.length * 37 + first.length * 11 + first.charCodeAt(0) * 5 + last.length * 3 + last.charCodeAt(0);
  return sum & (SHAPES_MAX - 1);
}

function areEqual(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) {
    if (left[at] !== right[at]) return false;
  }
  return true;
}
