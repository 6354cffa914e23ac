/** Verifies the checks built into some formats: final checksums, and a JSON Web Token's header. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM_CHARACTERS = 6;

/** The six characters with which GitHub's and npm's tokens end: CRC-32 of what is before them, in base 62. */
export function githubChecksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let count = 0; count < CHECKSUM_CHARACTERS; count += 1) {
    text = (BASE62[rest % 62] ?? "0") + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Whether `body` ends with its checksum. */
export function hasGithubChecksum(body: string): boolean {
  return githubChecksum(body.slice(0, -CHECKSUM_CHARACTERS)) === body.slice(-CHECKSUM_CHARACTERS);
}

/** Whether a Grafana token ends with its checksum: CRC-32 of what is before it, least byte first, in hexadecimal. */
export function hasGrafanaChecksum(token: string): boolean {
  const body = token.slice(0, -9);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(body));
  return token === `${body}_${sum.toString("hex")}`;
}

const BASE36_CHECKSUM_CHARACTERS = 7;

/** Whether a routable GitLab token ends with its checksum: CRC-32 of what is before it, in base 36. */
export function hasGitlabChecksum(token: string): boolean {
  const body = token.slice(0, -BASE36_CHECKSUM_CHARACTERS);
  return crc32(body).toString(36).padStart(BASE36_CHECKSUM_CHARACTERS, "0") === token.slice(body.length);
}

const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const BECH32_GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Whether `text` is Bech32 with a right checksum (BIP 173). */
export function hasBech32Checksum(text: string): boolean {
  const folded = text.toLowerCase();
  const split = folded.lastIndexOf("1");
  const name = [...folded.slice(0, split)].map((character) => character.charCodeAt(0));
  const data = [...folded.slice(split + 1)].map((character) => BECH32.indexOf(character));
  if (split < 1 || data.includes(-1)) return false;
  let sum = 1;
  for (const value of [...name.map((code) => code >> 5), 0, ...name.map((code) => code & 31), ...data]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of BECH32_GENERATORS.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  return sum === 1;
}

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Whether `text` is base 58 that ends with four bytes of the double SHA-256 of what is before them. */
export function hasBase58Checksum(text: string): boolean {
  let number = 0n;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit === -1) return false;
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest();
  return sha256(sha256(bytes.subarray(0, -4)))
    .subarray(0, 4)
    .equals(bytes.subarray(-4));
}

/** Whether `part` is the base64url of a JSON object that names an algorithm, as the header of a JSON Web Token does. */
export function isTokenHeader(part: string): boolean {
  const text = Buffer.from(part, "base64url").toString("latin1");
  return text.startsWith("{") && /"(?:alg|enc)"\s{0,4}:/.test(text);
}
