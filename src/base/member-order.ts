/**
 * The canonical order of the members of objects, remembered by their names: most objects are of a few shapes, and for
 * those neither sorting nor looking for escapes in the same names again is needed.
 *
 * Pure but for what it remembers, which is bounded, holds no values, and changes no answer.
 */

/** How the members of an object are printed. */
export interface MemberOrder {
  /** Places of the members in the object, ascending by name (UTF-16 code units). */
  readonly places: readonly number[];
  /** For each of them what stands before its value: `{"name":` where it is the first that is printed, else `,"name":`. */
  readonly first: readonly string[];
  readonly next: readonly string[];
}

/** Shapes remembered at a time; a power of two. */
const SHAPES_MAX = 256;
/** Names of a shape that is remembered. */
const NAMES_MAX = 40;
/** Characters of a name that is remembered. */
const NAME_CHARACTERS_MAX = 40;

/** Names that were seen, and their order once they came again: what comes only once is not worth more. */
interface Seen {
  readonly names: readonly string[];
  order?: MemberOrder;
}

const seen: (Seen | undefined)[] = new Array<undefined>(SHAPES_MAX).fill(undefined);

/**
 * The order of an object's members by their names, as `Object.keys` gives them; `undefined` for a shape that was not seen lately.
 * @param print a name as a JSON string; what it throws for a name is thrown
 */
export function memberOrder(names: readonly string[], print: (name: string) => string): MemberOrder | undefined {
  if (names.length === 0 || names.length > NAMES_MAX) return undefined;
  const slot = slotOf(names);
  const known = seen[slot];
  if (known !== undefined && areEqual(known.names, names)) {
    known.order ??= orderOf(names, print);
    return known.order;
  }
  if (names.every((name) => name.length <= NAME_CHARACTERS_MAX)) seen[slot] = { names: [...names] };
  return undefined;
}

function orderOf(names: readonly string[], print: (name: string) => string): MemberOrder {
  const sorted = [...names].sort();
  const printed = sorted.map((name) => print(name));
  return {
    places: sorted.map((name) => names.indexOf(name)),
    first: printed.map((name) => `{${name}:`),
    next: printed.map((name) => `,${name}:`),
  };
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
