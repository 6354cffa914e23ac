/**
 * Prints text as JSON does, into bytes, with WebAssembly's vectors: `JSON.stringify` looks at one character after the other and makes a
 * text that has to be encoded afterwards, which is most of what the answer to a read costs.
 *
 * There is one memory for the whole thread, in use until the next block. INVARIANT: the bytes are those of `JSON.stringify` in UTF-8; half
 * of a surrogate pair, which UTF-8 has no bytes for, is left to `JSON.stringify` itself.
 */
import { assert } from "./errors.ts";
import { JSON_ESCAPE_CODE } from "./json-escape-code.ts";
import { loadVectorModule } from "./vectors.ts";

/** Characters of the longest block: its escaped form has at most six bytes for each. */
const ESCAPED_BLOCK_CHARACTERS = 10_922;
/** Bytes of the longest escaped block. */
const ESCAPED_BLOCK_BYTES_MAX = 6 * ESCAPED_BLOCK_CHARACTERS;
const BYTES = 256;
const ASCII = 128;
/** Bytes of a table's entry; the last one is the length of what stands before it. */
const ENTRY = 8;
const TEXT = 0x800;
const TEXT_BYTES = 3 * ESCAPED_BLOCK_CHARACTERS;
const PADDING = 16;
const ESCAPED = 0x9000;
/** A character that is written as it is. */
const PLAIN = 0x20;

const { text, escaped, run } = prepare();

/** The bytes of `block`, of at most `ESCAPED_BLOCK_CHARACTERS`, as JSON writes it between quotes. They are good until the next call. */
export function escapedBytes(block: string): Uint8Array {
  assert(block.length <= ESCAPED_BLOCK_CHARACTERS, "a block is escaped at once");
  if (!block.isWellFormed()) return Buffer.from(JSON.stringify(block).slice(1, -1));
  const length = text.write(block);
  text.fill(PLAIN, length, length + PADDING);
  return escaped.subarray(0, run(length));
}

/** The first part of `rest` that can be escaped at once; pairs of surrogates stay together. */
export function firstBlock(rest: string): string {
  if (rest.length <= ESCAPED_BLOCK_CHARACTERS) return rest;
  const last = rest.charCodeAt(ESCAPED_BLOCK_CHARACTERS - 1);
  return rest.slice(0, last >= 0xd800 && last < 0xdc00 ? ESCAPED_BLOCK_CHARACTERS - 1 : ESCAPED_BLOCK_CHARACTERS);
}

function prepare() {
  const { memory, run } = loadVectorModule(JSON_ESCAPE_CODE, "answers cannot be printed");
  const table = Buffer.from(memory, 0, BYTES * ENTRY);
  for (let byte = 0; byte < BYTES; byte += 1) {
    const printed = byte < ASCII ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)) : Buffer.of(byte);
    table.set(printed, byte * ENTRY);
    table[byte * ENTRY + ENTRY - 1] = printed.byteLength;
  }
  return { text: Buffer.from(memory, TEXT, TEXT_BYTES + PADDING), escaped: Buffer.from(memory, ESCAPED, ESCAPED_BLOCK_BYTES_MAX), run };
}
