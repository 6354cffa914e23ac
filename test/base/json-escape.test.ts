// What is escaped with vectors is what `JSON.stringify` writes, for every text.
import fc from "fast-check";
import { expect, test } from "vitest";
import { escapedBytes, firstBlock } from "../../src/base/json-escape.ts";

const escaped = (block: string) => Buffer.from(escapedBytes(block)).toString();
const printed = (text: string) => JSON.stringify(text).slice(1, -1);
/** The whole text, block by block. */
function inBlocks(text: string): string {
  let all = "";
  for (let rest = text; rest !== ""; ) {
    const block = firstBlock(rest);
    all += escaped(block);
    rest = rest.slice(block.length);
  }
  return all;
}

test("any text is escaped as `JSON.stringify` does", () => {
  const unit = fc.constantFrom("binary" as const, "grapheme" as const, "binary-ascii" as const);
  const text = unit.chain((kind) => fc.string({ unit: kind, maxLength: 100 }));
  fc.assert(
    fc.property(text, (value) => {
      expect(escaped(value)).toBe(printed(value));
    }),
    { numRuns: 2000 },
  );
});

test("each character at each place of sixteen bytes, with nothing of an earlier text behind it", () => {
  escapedBytes('"'.repeat(1000));
  for (let code = 0; code < 0x180; code += 1) {
    for (let at = 0; at < 33; at += 1) {
      const text = `${"a".repeat(at)}${String.fromCharCode(code)}`;
      expect(escaped(text)).toBe(printed(text));
      expect(escaped(`${text}b"`)).toBe(printed(`${text}b"`));
    }
  }
});

test("half of a surrogate pair is written as an escape, wherever it stands", () => {
  for (const text of ["\ud800", "a\udc00b", "\udc00\ud800", "\ud83d\ude00\ud83d", '"\ud800"']) expect(escaped(text)).toBe(printed(text));
});

test("a text longer than a block is escaped whole; pairs at the borders of blocks stay pairs", () => {
  for (const character of ["\u0001", "a", '"', "é", "€", "😀", "\ud800"]) {
    for (const before of ["", "x"]) {
      const text = before + character.repeat(30_000);
      expect(inBlocks(text) === printed(text)).toBe(true); // not `toBe`: a failure would print all of it
    }
  }
});

test("more than a block is refused", () => {
  const block = firstBlock("x".repeat(100_000));
  expect(() => escapedBytes(`${block}x`)).toThrow("a block is escaped at once");
});
