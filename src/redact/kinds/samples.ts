/**
 * Generates sample texts from templates for the examples of rules.
 *
 * The examples show a format without holding anything that looks like a live secret: `ghp_{a36}` stands for 36 letters
 * and digits behind `ghp_`.
 *
 * It is pure and deterministic: the same template and seed give the same text.
 */
import { githubChecksum } from "./checksum.ts";

const ALPHABETS: Readonly<Record<string, string>> = {
  /** letters and digits */
  a: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  /** lower-case letters and digits */
  l: "abcdefghijklmnopqrstuvwxyz0123456789",
  /** upper-case letters and digits */
  U: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  h: "0123456789abcdef",
  H: "0123456789ABCDEF",
  d: "0123456789",
  /** the alphabet of base64url */
  u: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  /** the alphabet of base64 */
  b: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  /** the alphabet of base32 */
  t: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  /** the same in lower case */
  z: "abcdefghijklmnopqrstuvwxyz234567",
  /** the alphabet of Bech32 in upper case */
  q: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  /** the same in lower case */
  Q: "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
  /** the alphabet of base 58 */
  y: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  c: "abcdefghijklmnopqrstuvwxyz",
  C: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
};

/** Gives whole numbers from 0 up to, not including, its argument. */
export type RandomIndex = (below: number) => number;

/** A generator of repeatable numbers; not for anything that has to be secret. */
export function seededRandom(seed: number): RandomIndex {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 0x1_0000_0000) % below;
  };
}

/** A text made from a template, and the parts of it that chance chose. */
export interface Sample {
  readonly text: string;
  /** The random parts of at least eight characters: what must not be left when the secret is redacted. */
  readonly random: readonly string[];
}

const PLACE = /\{(?:([alUhHdubtzqQycC])(\d{1,4})|(uuid|jwt|pem|checked|pair))\}/g;

/** Makes a text from `template`. */
export function fillTemplate(template: string, random: RandomIndex): Sample {
  const parts: string[] = [];
  const text = template.replace(
    PLACE,
    (_, alphabet: string | undefined, length: string, special: string | undefined) => {
      const part = special === undefined ? draw(alphabet ?? "a", Number(length), random) : drawSpecial(special, random);
      if (part.length >= 8) parts.push(part);
      return part;
    },
  );
  return { text, random: parts };
}

function draw(alphabet: string, length: number, random: RandomIndex): string {
  const characters = ALPHABETS[alphabet] ?? "";
  for (let attempt = 0; ; attempt += 1) {
    let text = "";
    for (let index = 0; index < length; index += 1) text += characters[random(characters.length)];
    // What chance makes is almost always like this; a sample has to be.
    if (
      length < 8 ||
      attempt > 100 ||
      alphabet === "d" ||
      alphabet === "c" ||
      alphabet === "C" ||
      (/\d/.test(text) && /[a-zA-Z]/.test(text))
    )
      return text;
  }
}

function drawSpecial(special: string, random: RandomIndex): string {
  const hex = (length: number) => draw("h", length, random);
  if (special === "uuid") return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  if (special === "checked") {
    const body = draw("a", 30, random);
    return body + githubChecksum(body);
  }
  if (special === "pair") return `${draw("c", 8, random)}:${draw("a", 18, random)}`;
  if (special === "jwt") {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    return `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: draw("a", 12, random), iat: 1_700_000_000 })}.${draw("u", 43, random)}`;
  }
  return Array.from({ length: 12 }, () => draw("b", 64, random)).join("\n");
}
