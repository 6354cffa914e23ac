/**
 * Measures how random a short text looks and recognises stand-ins for secrets.
 *
 * All functions are pure functions of the text.
 */
import { markersIn } from "../search/marker.ts";

const counts = new Uint16Array(128);

/** Shannon entropy in bits per character; other characters than ASCII count as one. */
export function entropyOf(text: string): number {
  if (text.length === 0) return 0;
  counts.fill(0);
  for (let index = 0; index < text.length; index += 1) {
    const code = Math.min(text.charCodeAt(index), 127);
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let sum = 0;
  for (const count of counts) if (count > 0) sum += count * Math.log2(count);
  return Math.log2(text.length) - sum / text.length;
}

/** How many different characters `text` has. */
export function distinctCharacters(text: string): number {
  return new Set(text).size;
}

/** Whether `text` is nothing but filling: one character of `x`, `*`, `.` and the like, or a marker. */
export function isFiller(text: string): boolean {
  if (text === "" || /^([xX*.\-_#?0…])\1*$/.test(text)) return true;
  return markersIn(text)[0] === text || /^(?:x{3,}|\*{3,}|\.{3,})/i.test(text) || /(?:x{6}|\*{4}|\.{3}|…)/i.test(text);
}

const WORDS =
  /example|sample|placeholder|change[-_ ]?(?:me|it|this)|replace[-_ ]?(?:me|with|this)|your[-_ ]?|dummy|redacted|lorem|ipsum|qwerty|deadbeef/i;
/** The same of a short text. */
const SHORT_WORDS =
  /(?:^|[-_.])(?:fake|mock|test|todo|tbd|foo|bar|baz|secret|password|token|insert|some|my|here|none|null|undefined)(?:$|[-_.])/i;
const SEQUENCES = /abcdefgh|bcdefghi|12345678|87654321|0{8}|1{8}|a{8}/i;
/** Characters from which on a sequence does not say that all of it is made up. */
const LONG_CHARACTERS = 24;

/** Whether `text` says of itself that it is no real secret: an example, a sequence, very few different characters. */
export function looksLikeStandIn(text: string): boolean {
  return isCalledStandIn(text) || SEQUENCES.test(text);
}

/** The same for what a name calls a secret: a long value with a sequence in it may be one. */
export function isCalledStandIn(text: string): boolean {
  if (distinctCharacters(text) <= Math.min(4, text.length / 3) || WORDS.test(text)) return true;
  return text.length < LONG_CHARACTERS && (SEQUENCES.test(text) || SHORT_WORDS.test(text));
}

/** Whether `text` is put together from variables, or names where the secret comes from, instead of being one. */
export function isReference(text: string): boolean {
  return /^\$[A-Za-z_({]|\$\{|\{\{|\}\}|^\$\(|^%[A-Za-z_]{1,64}%?$|^<[^>]{0,128}>?$|^\{[^}]{0,128}\}?$|^\[[^\]]{0,128}\]?$|%[sdv]$|^@|^#\{|process\.env|os\.environ|getenv|import\.meta|secrets?\.[A-Z]|^arn:|^vault:|^env[.:]|^ref\+|^!/.test(
    text,
  );
}
