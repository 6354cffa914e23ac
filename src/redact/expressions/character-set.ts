/**
 * Represents sets of characters for the analysis of expressions.
 *
 * A set has one flag for each ASCII character, one for all other white space, and one for everything else. The last
 * flag says that some of those characters may be in the set.
 */

/** One flag per ASCII character, then other white space, then everything else. */
export type CharacterSet = Uint8Array;

const OTHER_SPACES = 128;
const OTHERS = 129;
const SIZE = 130;

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
  set[placeOf(code)] = 1;
}

/** Adds the white space that is not ASCII. */
export function addOtherSpaces(set: CharacterSet): void {
  set[OTHER_SPACES] = 1;
}

/** Adds every ASCII character from `first` to `last`. */
export function addRange(set: CharacterSet, first: number, last: number): void {
  set.fill(1, first, last + 1);
}

/** Adds every character of `other`. */
export function addAll(set: CharacterSet, other: CharacterSet): void {
  for (let index = 0; index < SIZE; index += 1) if (other[index]) set[index] = 1;
}

/** The characters that are not in `set`; some of everything else always are. */
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
  return set[placeOf(code)] === 1;
}

/** Adds the other case of each letter in the set. */
export function foldCase(set: CharacterSet): void {
  for (let lower = 97; lower <= 122; lower += 1) {
    if (!set[lower] && !set[lower - 32]) continue;
    set[lower] = 1;
    set[lower - 32] = 1;
  }
}

function placeOf(code: number): number {
  if (code < OTHER_SPACES) return code;
  return /\s/.test(String.fromCharCode(code)) ? OTHER_SPACES : OTHERS;
}
