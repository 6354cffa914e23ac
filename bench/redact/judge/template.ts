/**
 * Templates of secrets, filled by chance: `{w30}` is 30 secret characters of the class `w`, `<d12>` are 12 public ones,
 * `{crc}` is the check of the last secret part in the way of GitHub and npm, `{J}` a signed token, `U` a UUID.
 */
import { crc32 } from "node:zlib";

/** A whole number from 0 up to `below`, which is left out. */
export type RandomIndex = (below: number) => number;

const DIGITS = "0123456789";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const BASE62 = DIGITS + UPPER + LOWER;
const BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
const CLASSES: Readonly<Record<string, string>> = {
  a: LOWER,
  b: `${BASE62}+/`,
  B: BECH32,
  d: DIGITS,
  l: LOWER + DIGITS,
  m: LOWER + UPPER,
  s: `${BASE62}_-`,
  u: UPPER + DIGITS,
  w: BASE62,
  x: `${DIGITS}abcdef`,
  X: `${DIGITS}ABCDEF`,
  2: `${UPPER}234567`,
};
const SLOT = /([{<])(?:(crc|J|U)|([a-zA-Z2])(\d+))[}>]/g;
/** A literal between two secret parts that is at most so long belongs to the secret: `.`, `-`, `:`. */
const JOINT_MAX = 2;

/** A made-up secret. */
export interface Secret {
  readonly value: string;
  /** What must not be readable: the parts that chance chose. */
  readonly parts: readonly string[];
}

/** Characters of a class. */
export function randomText(random: RandomIndex, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[random(alphabet.length)]).join("");
}

/** Fills a template. @throws Error for a class that there is none of */
export function fill(template: string, random: RandomIndex): Secret {
  const parts: string[] = [];
  let value = "";
  let end = Number.NEGATIVE_INFINITY;
  let last = "";
  let from = 0;
  for (const match of template.matchAll(SLOT)) {
    const [slot, bracket, word, letter, count] = match;
    value += template.slice(from, match.index);
    from = match.index + slot.length;
    if (word === "crc") last = checkOf(last);
    else last = word === undefined ? randomText(random, alphabetOf(letter), Number(count)) : randomWord(word, random);
    const start = value.length;
    value += last;
    if (bracket !== "{") continue;
    if (start - end <= JOINT_MAX) parts.push(`${parts.pop()}${value.slice(end)}`);
    else parts.push(last);
    end = value.length;
  }
  return { value: value + template.slice(from), parts };
}

function alphabetOf(letter = ""): string {
  const alphabet = CLASSES[letter];
  if (alphabet === undefined) throw new Error(`no class of characters \`${letter}\`; look at the table of classes`);
  return alphabet;
}

function randomWord(word: string, random: RandomIndex): string {
  const hex = (length: number) => randomText(random, `${DIGITS}abcdef`, length);
  if (word === "U") return `${hex(8)}-${hex(4)}-4${hex(3)}-${"89ab"[random(4)]}${hex(3)}-${hex(12)}`;
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const issued = 1_700_000_000 + random(50_000_000);
  const payload = { sub: randomText(random, DIGITS, 10), iat: issued, exp: issued + 3600, jti: hex(16) };
  return `${encode({ alg: "HS256", typ: "JWT" })}.${encode(payload)}.${randomText(random, `${BASE62}_-`, 43)}`;
}

/** Six characters in base 62 of the CRC-32. */
function checkOf(body: string): string {
  let rest = crc32(body);
  let check = "";
  for (let index = 0; index < 6; index += 1) {
    check = `${BASE62[rest % 62]}${check}`;
    rest = Math.floor(rest / 62);
  }
  return check;
}
