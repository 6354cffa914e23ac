/** Sets of characters for the analysis of expressions: one flag for each ASCII character, and one for all others. */

/** One flag per ASCII character; the last flag stands for every other character. */
export type CharacterSet = Uint8Array;

const OTHERS = 128;
const SIZE = 129;

/** The set with nothing in it. */
export function emptySet(): CharacterSet {
  return new Uint8Array(SIZE);
}

/** The set of every character. */
export function fullSet(): CharacterSet {
  return new Uint8Array(SIZE).fill(1);
}

/** The set of the characters of `text`. */
export function setOf(text: string): CharacterSet {
  const set = emptySet();
  for (let index = 0; index < text.length; index += 1) addCode(set, text.charCodeAt(index));
  return set;
}

/** Adds one character. */
export function addCode(set: CharacterSet, code: number): void {
  set[Math.min(code, OTHERS)] = 1;
}

/** Adds every character from `first` to `last`. */
export function addRange(set: CharacterSet, first: number, last: number): void {
  set.fill(1, Math.min(first, OTHERS), Math.min(last, OTHERS) + 1);
}

/** Adds every character of `other`. */
export function addAll(set: CharacterSet, other: CharacterSet): void {
  for (let index = 0; index < SIZE; index += 1) if (other[index]) set[index] = 1;
}

/** The characters that are not in `set`; whether others than ASCII are is not known of a negated set, so they are. */
export function complementOf(set: CharacterSet): CharacterSet {
  const result = set.map((flag) => (flag ? 0 : 1));
  result[OTHERS] = 1;
  return result;
}

/** Whether the sets may share a character. */
export function overlap(left: CharacterSet, right: CharacterSet): boolean {
  for (let index = 0; index < SIZE; index += 1) if (left[index] && right[index]) return true;
  return false;
}

/** Whether the character is in the set. */
export function hasCode(set: CharacterSet, code: number): boolean {
  return set[Math.min(code, OTHERS)] === 1;
}

/** Adds the other case of each letter in the set. */
export function foldCase(set: CharacterSet): void {
  for (let lower = 97; lower <= 122; lower += 1) {
    if (!set[lower] && !set[lower - 32]) continue;
    set[lower] = 1;
    set[lower - 32] = 1;
  }
}
