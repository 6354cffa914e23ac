/** Verifies the checks built into some formats: a token's final checksum and a JSON Web Token's header. */
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

/** Whether `part` is the base64url of a JSON object that names an algorithm, as the header of a JSON Web Token does. */
export function isTokenHeader(part: string): boolean {
  const text = Buffer.from(part, "base64url").toString("latin1");
  return text.startsWith("{") && /"(?:alg|enc)"\s{0,4}:/.test(text);
}
