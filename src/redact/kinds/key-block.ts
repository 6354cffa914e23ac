/**
 * Finds private keys in text blocks: PEM, OpenSSH, PGP, SSH2 and PuTTY.
 *
 * A block may also be indented, quoted, escaped, prefixed by a diff or a log, or written on one line. The key is the
 * opening line and what follows as long as it looks like the body of a block, up to and including the closing line. A
 * block that was cut off is found too.
 *
 * INVARIANT: the walk ends at the next opening line, so that each block of a text is walked once.
 */
import type { Finding } from "../search/finding.ts";
import type { ScanMemo, Trigger } from "../search/matcher.ts";
import { endOfLines, isBase64, type KeyLines, readKeyLines } from "./key-lines.ts";
import type { RuleExamples } from "./rule.ts";

/** Characters of one block: a key of 16,384 bits has some 13,000, and a log may prefix each line. */
const BLOCK_CHARACTERS_MAX = 24_576;
/** Characters that one line of key must have where no closing line proves that it is a key. */
const LINE_CHARACTERS_MIN = 32;
const PUTTY_REACH = 8192;

/** What the rules of blocks are called, for explanations and tests. */
export const BLOCK_RULES: readonly { readonly id: string; readonly title: string; readonly examples: RuleExamples }[] =
  [
    {
      id: "private-key",
      title: "a private key in a text block",
      examples: {
        positive: [
          "-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----\n",
          "-----BEGIN PRIVATE KEY-----\n{pem}\n-----END PRIVATE KEY-----",
          "-----BEGIN OPENSSH PRIVATE KEY-----\n{pem}\n",
          "-----BEGIN EC PRIVATE KEY-----\r\n{b64}\r\n{b40}==\r\n-----END EC PRIVATE KEY-----",
          "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{H32}\n\n{pem}\n-----END RSA PRIVATE KEY-----",
          "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{pem}\n={b4}\n-----END PGP PRIVATE KEY BLOCK-----",
          '{"private_key": "-----BEGIN PRIVATE KEY-----\\n{b64}\\n{b64}\\n-----END PRIVATE KEY-----\\n"}',
          "key: |\n  -----BEGIN PRIVATE KEY-----\n  {b64}\n  {b64}\n  -----END PRIVATE KEY-----\n",
          "+-----BEGIN PRIVATE KEY-----\n+{b64}\n+{b60}\n+-----END PRIVATE KEY-----\n",
          "KEY='-----BEGIN PRIVATE KEY----- {b64} {b64} -----END PRIVATE KEY-----'",
          "api-1  | -----BEGIN PRIVATE KEY-----\napi-1  | {b64}\napi-1  | {b64}\napi-1  | {b20}\napi-1  | -----END PRIVATE KEY-----\n",
          "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n{pem}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        ],
        negative: [
          "-----BEGIN PRIVATE KEY-----",
          "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
          "a file that starts with -----BEGIN PRIVATE KEY----- and then some words of a text follow it",
          "-----BEGIN CERTIFICATE-----\n{pem}\n-----END CERTIFICATE-----",
          "-----BEGIN PUBLIC KEY-----\n{b64}\n-----END PUBLIC KEY-----",
          "if (text.includes('-----BEGIN PRIVATE KEY-----')) return true;",
        ],
      },
    },
    {
      id: "putty-key",
      title: "a PuTTY private key",
      examples: {
        positive: [
          "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAAC3Nz{b6}\nPrivate-Lines: 2\n{b64}\n{b20}\nPrivate-MAC: 00ff\n",
        ],
        negative: ["PuTTY-User-Key-File-3: is how such files begin", "Private-Lines: 2"],
      },
    },
  ];

/** Triggers of the rules of blocks. */
export function blockTriggers(): readonly Trigger[] {
  const block = { reach: BLOCK_CHARACTERS_MAX + 512, match: matchBlock };
  return [
    { keyword: "-----begin ", matcher: block },
    { keyword: "---- begin ssh2", matcher: block },
    { keyword: "private-lines:", matcher: { reach: PUTTY_REACH + 128, match: matchPutty } },
  ];
}

const OPENING =
  /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/y;
const CLOSING =
  /-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/y;
/** Between two lines of a key: line ends, indentation, quotes, escapes, and what diffs and logs put before a line. */
const BETWEEN = new Set([..." \t\r\n\"'`,\\>|*#:;"].map((character) => character.charCodeAt(0)));
const HEADER = /(?:[A-Za-z][A-Za-z0-9-]{1,30}: {1,2}[\x20-\x7e]{0,200}?)(?=\\{1,3}[nr]|[\r\n])/y;

function matchBlock({ text }: ScanMemo, start: number): Finding | undefined {
  OPENING.lastIndex = start;
  const opening = OPENING.exec(text);
  if (!opening) return undefined;
  const limit = Math.min(text.length, start + BLOCK_CHARACTERS_MAX);
  const body = { start: start + opening[0].length, limit };
  const plain = readPlain(text, body);
  const lines = plain?.isClosed ? undefined : readKeyLines(text, body, CLOSING);
  const end = Math.max(plain?.end ?? 0, lines?.end ?? 0);
  return end === 0 ? undefined : { rule: "private-key", kind: "definite", start, end };
}

/** The lines of a block between which stands nothing but what separates lines. */
function readPlain(
  text: string,
  { start, limit }: { readonly start: number; readonly limit: number },
): KeyLines | undefined {
  let at = start;
  let end = at;
  let longest = 0;
  let isClosed = false;
  while (at < limit) {
    at = skipBetween(text, at, limit);
    const closing = endOfClosing(text, at);
    if (closing !== undefined) {
      end = closing;
      isClosed = true;
      break;
    }
    const header = endOfHeader(text, at);
    const next = header ?? endOfLine(text, at, limit);
    if (next === at) break;
    if (header === undefined) {
      // Without a closing line, words of a sentence would look like short lines of a key.
      if (next - at >= LINE_CHARACTERS_MIN || longest > 0) end = next;
      longest = Math.max(longest, next - at);
      if (longest >= LINE_CHARACTERS_MIN && next - at < LINE_CHARACTERS_MIN && !closesSoon(text, next, limit)) break;
      if (longest < LINE_CHARACTERS_MIN && next - start > 512) break;
    }
    at = next;
  }
  return longest < (isClosed ? 16 : LINE_CHARACTERS_MIN) ? undefined : { end, isClosed };
}

/** Whether another line of key or the closing line follows what separates lines. */
function closesSoon(text: string, at: number, limit: number): boolean {
  const next = skipBetween(text, at, limit);
  return (
    endOfClosing(text, next) !== undefined ||
    endOfLine(text, next, limit) - next >= LINE_CHARACTERS_MIN ||
    isChecksum(text, next)
  );
}

/** `=Ab1c`, the checksum with which the body of a PGP block ends. */
function isChecksum(text: string, at: number): boolean {
  return text.charCodeAt(at) === 61 && endOfLine(text, at + 1, at + 6) === at + 5;
}

function endOfClosing(text: string, at: number): number | undefined {
  // A line of a diff that removes a key begins with one dash more.
  for (const start of [at, at + 1]) {
    CLOSING.lastIndex = start;
    const match = CLOSING.exec(text);
    if (match) return start + match[0].length;
  }
  return undefined;
}

function endOfHeader(text: string, at: number): number | undefined {
  HEADER.lastIndex = at;
  const match = HEADER.exec(text);
  return match ? at + match[0].length : undefined;
}

/** Skips what may separate two lines: characters, the letters of `\n` and `\r`, a single dash or plus of a diff. */
function skipBetween(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    const code = text.charCodeAt(at);
    if (BETWEEN.has(code)) {
      at += code === 92 && (text[at + 1] === "n" || text[at + 1] === "r" || text[at + 1] === "t") ? 2 : 1;
    } else if (code === 45 && text.charCodeAt(at + 1) !== 45 && text.charCodeAt(at + 1) !== 32) at += 1;
    else break;
  }
  return Math.min(at, limit);
}

function endOfLine(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit && isBase64(text.charCodeAt(at))) at += 1;
  return at;
}

function matchPutty({ text }: ScanMemo, _start: number, end: number): Finding | undefined {
  const count = /^ {0,2}\d{1,3}/.exec(text.slice(end, end + 8));
  if (!count) return undefined;
  const limit = end + PUTTY_REACH;
  let at = end + count[0].length;
  let longest = 0;
  for (let line = 0; line < 256; line += 1) {
    const next = skipBetween(text, at, limit);
    const lineEnd = endOfLine(text, next, limit);
    if (text.charCodeAt(lineEnd) === 45 || lineEnd === next) break; // `Private-MAC`
    longest = Math.max(longest, lineEnd - next);
    at = lineEnd;
  }
  const lines = endOfLines(text, { start: end, limit: Math.min(text.length, limit) }, Number(count[0]));
  if (lines === undefined && longest < 16) return undefined;
  return { rule: "putty-key", kind: "definite", start: end, end: Math.max(longest < 16 ? 0 : at, lines ?? 0) };
}
