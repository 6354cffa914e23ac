/**
 * Secrets in UTF-16 that is seen as bytes: every character has a null character beside it.
 *
 * A candidate whose keyword is interleaved so is verified on a copy of its surroundings without those null characters,
 * and what is found is brought back to where it stands. Two null characters in a row end a text, as they do in binary
 * files. Big and little endian look alike from the second character on.
 */
import type { Finding } from "./finding.ts";
import { emptyMemo, MATCHER_BEHIND_MAX, type Trigger } from "./matcher.ts";

/** Verifies the keyword whose last character stands at `index` of `text`, a null character before it. */
export function matchInterleaved({ keyword, matcher }: Trigger, text: string, index: number): Finding | undefined {
  const { length } = keyword;
  const start = index - 2 * (length - 1);
  if (start < 0) return undefined;
  for (let place = start; place < index; place += 2)
    if (text.charCodeAt(place) === 0 || text.charCodeAt(place + 1) !== 0) return undefined;
  let first = start;
  for (let count = 0; count < MATCHER_BEHIND_MAX && isPair(text, first - 2); count += 1) first -= 2;
  const characters: string[] = [];
  const countMax = (start - first) / 2 + matcher.reach;
  for (let place = first; characters.length < countMax; place += 2) {
    const character = text[place];
    if (character === undefined || character === "\0") break;
    characters.push(character);
    if (text.charCodeAt(place + 1) !== 0) break;
  }
  const plain = characters.join("");
  const at = (start - first) / 2;
  const found = matcher.match(emptyMemo(plain), at, at + length);
  if (!found) return undefined;
  // The null character between the last character of the secret and the next one is not part of it.
  return { ...found, start: first + 2 * found.start, end: first + 2 * found.end - 1 };
}

function isPair(text: string, place: number): boolean {
  return place >= 0 && text.charCodeAt(place) !== 0 && text.charCodeAt(place + 1) === 0;
}
