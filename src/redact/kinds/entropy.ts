/**
 * Measures how random a short text looks and recognises stand-ins for secrets.
 *
 * All functions are pure functions of the text.
 */
import { markersIn } from "../search/marker.ts";

const counts = new Uint16Array(128);
/** Counts of one character whose share is computed beforehand; texts that are judged are hardly ever longer. */
const SHARES = Float64Array.from({ length: 513 }, (_, count) => (count === 0 ? 0 : count * Math.log2(count)));

/** Characters from which on copying a text costs less than reading it where it is. */
const BYTES_FROM = 64;
const bytes = Buffer.alloc(1024);

/** Shannon entropy in bits per character; other characters than ASCII count as one. */
export function entropyOf(text: string): number {
  if (text.length === 0) return 0;
  // Characters of long texts are read as bytes, which is several times as fast; with others than ASCII there are more.
  const asBytes = text.length >= BYTES_FROM && text.length <= bytes.length && bytes.write(text) === text.length;
  if (asBytes) for (let index = 0; index < text.length; index += 1) count(bytes[index] ?? 0);
  else for (let index = 0; index < text.length; index += 1) count(Math.min(text.charCodeAt(index), 127));
  let sum = 0;
  for (let code = 0; code < counts.length; code += 1) {
    const times = counts[code] ?? 0;
    if (times === 0) continue;
    sum += SHARES[times] ?? times * Math.log2(times);
    counts[code] = 0;
  }
  return Math.log2(text.length) - sum / text.length;
}

function count(code: number): void {
  counts[code] = (counts[code] ?? 0) + 1;
}

/** How many different characters `text` has. */
export function distinctCharacters(text: string): number {
  return new Set(text).size;
}

/** Different characters of which a text of no more is a stand-in, whatever its length. */
const FEW_CHARACTERS = 4;

/** Whether `text` has very few different characters for its length; most texts show soon that they have more. */
function hasFewCharacters(text: string): boolean {
  const max = Math.min(FEW_CHARACTERS, text.length / 3);
  const met: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const point = text.codePointAt(at) ?? 0;
    if (point > 0xffff) at += 1;
    if (met.includes(point)) continue;
    if (met.length + 1 > max) return false;
    met.push(point);
  }
  return true;
}

/** Whether `text` is nothing but filling: one character of `x`, `*`, `.` and the like, or a marker. */
export function isFiller(text: string): boolean {
  if (text === "" || /^([xX*.\-_#?0…])\1*$/.test(text)) return true;
  return markersIn(text)[0] === text || /^(?:x{3}|\*{3})|x{6}|\*{4}|\.{3}|…/i.test(text);
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
  if (hasFewCharacters(text) || WORDS.test(text)) return true;
  return text.length < LONG_CHARACTERS && (SEQUENCES.test(text) || SHORT_WORDS.test(text));
}

/** Whether `text` is put together from variables, or names where the secret comes from, instead of being one. */
export function isReference(text: string): boolean {
  return REFERENCE_BEGINNING.test(text) || REFERENCE_INSIDE.test(text) || /%[sdv]$/.test(text.slice(-2));
}

const REFERENCE_BEGINNING =
  /^(?:\$[A-Za-z_({]|%[A-Za-z_]{1,64}%?$|<[^>]{0,128}>?$|\{[^}]{0,128}\}?$|\[[^\]]{0,128}\]?$|[@!]|#\{|arn:|vault:|env[.:]|ref\+)/;
const REFERENCE_INSIDE = /\$\{|\{\{|\}\}|process\.env|os\.environ|getenv|import\.meta|secrets?\.[A-Z]/;

/**
 * Secrets that standards and manuals print as examples: everybody has them. RFC 5849, 6749, 6750, 7515 and 7617, the
 * draft of OAuth 2.0 MAC, and the documentation of JSON Web Tokens.
 */
const PUBLISHED = [
  "dpf43f3p2l4k3l03",
  "kd94hf93k423kf44",
  "nnch734d00sl2jdk",
  "pfkkdhi9sl3r4s00",
  "hh5s93j4hdidpola",
  "hdhd0244k9j7ao03",
  "0685bd9184jfhq22",
  "ad180jjd733klru7",
  "gX1fBat3bV",
  "7Fjfp0ZBr1KtDRbnfVdmIw",
  "SplxlOBeZQQYbYS6WxSbIA",
  "2YotnFZFEjr1zCsicMWpAA",
  "tGzv3JOkF0XG5Qx2TlKWIA",
  "mF_9\\.B5f-4\\.1JqM",
  "czZCaGRSa3F0MzpnWDFmQmF0M2JW",
  "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
  "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l", // {"sub":"1234567890","name":"John Doe
  "eyJzb21lIjoicGF5bG9hZCJ9", // {"some":"payload"}
];
const PUBLISHED_EXPRESSION = new RegExp(`(?:^|\\.)(?:${PUBLISHED.join("|")})`);

/** Whether `secret` is printed in a standard. */
export function isPublished(secret: string): boolean {
  return PUBLISHED_EXPRESSION.test(secret);
}
