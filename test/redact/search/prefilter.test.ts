// The search by vectors names exactly the places that its tables describe: a slow reading of the same tables is the measure.
import fc from "fast-check";
import { expect, test } from "vitest";
import { assemble } from "../../../scripts/assemble-wat.mjs";
import { exactBeginning, foldedBeginning } from "../../../src/redact/expressions/beginning.ts";
import { BLOCK_BEHIND_MAX, BLOCK_CHARACTERS, blockPlaces, searchBlock } from "../../../src/redact/search/prefilter.ts";
import { buildPrefilter } from "../../../src/redact/search/prefilter-tables.ts";

const words = ["ghp_0123456789abcdef", "AKIAIOSFODNN7EXAMPLE", "s.", "!!?", " MT", "\t#&*("];
const tables = buildPrefilter([...words.map(exactBeginning), ...["secret", "é-", "x"].map(foldedBeginning)]);

const few = buildPrefilter([exactBeginning("ghp_0123456789abcdef")]);

/** As the module's description says, character by character. */
function places(text: string): readonly number[] {
  const byte = (at: number) => {
    const code = at < text.length ? text.charCodeAt(at) : 255;
    return code < 128 ? code : 255;
  };
  const pair = (offset: number, at: number) => (tables[offset + (byte(at) & 15)] ?? 0) & (tables[offset + 16 + (byte(at) >> 4)] ?? 0);
  const inGroup = (offset: number, at: number) => pair(offset, at) & pair(offset + 32, at + 1) & pair(offset + 64, at + 2);
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => {
    const run = Array.from({ length: 16 }, (_unused, ahead) => pair(0x81c0, at + ahead)).every((bits) => bits !== 0);
    if (!run && inGroup(0x8100, at) === 0 && inGroup(0x8160, at) === 0) return false;
    const hash = Math.imul(byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16), 0x3779b100) >>> 17;
    return ((tables[hash] ?? 0) & (tables[0x8000 + byte(at + 3)] ?? 0)) !== 0;
  });
}

function found(text: string, own = tables): readonly number[] {
  const count = searchBlock(own, text);
  return [...blockPlaces.subarray(0, count)].filter((at) => at < text.length);
}

const part = fc.oneof(
  fc.constantFrom(
    ...words,
    "SeCret",
    "é-",
    "x",
    "\u212a",
    "\u0100",
    "\ud800",
    "\u8000",
    "\uffff",
    "ÿ",
    " ",
    "\n",
    "abcdefghijklmnop",
    "_",
    "=",
  ),
  fc.string({ unit: "binary", maxLength: 3 }).map((text) => text.replaceAll("\0", "")),
  fc.constantFrom(...words).map((word) => word.slice(0, 3)),
);

test("it names the places that the tables describe, in order", () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 60 }).map((parts) => parts.join("")),
      (text) => {
        expect(found(text)).toEqual(places(text));
      },
    ),
    { numRuns: 2000 },
  );
});

test("a place may stand anywhere in a block, and every place may be one", () => {
  for (const length of [BLOCK_CHARACTERS, BLOCK_CHARACTERS + BLOCK_BEHIND_MAX]) {
    for (let at = 0; at < length - 20; at += 61) {
      const text = `${" ".repeat(at)}ghp_0123456789abcdef`.padEnd(length, " ");
      expect(found(text, few)).toEqual([at]);
    }
    expect(found("x".repeat(length)).length).toBe(length);
  }
});

test("what a longer block has left is not read with a shorter one", () => {
  expect(found("ghp_0123456789abcdef".repeat(20), few).length).toBe(20);
  expect(found("  gh", few)).toEqual([]);
});

test("a null character anywhere is told, and only that", () => {
  for (let at = 0; at < 200; at += 1) expect(searchBlock(tables, `${"Ā".repeat(at)}\0${"é".repeat(199 - at)}`)).toBe(-1);
  expect(searchBlock(tables, "Ā\u8000\uff00".repeat(100))).toBeGreaterThanOrEqual(0);
});

test("a table takes the place of another one", () => {
  const other = buildPrefilter([exactBeginning("!!?")]);
  expect(searchBlock(other, " ghp_0123456789abcdef ")).toBe(0);
  expect(searchBlock(few, " ghp_0123456789abcdef ")).toBe(1);
});

// Node's types lack it.
const { WebAssembly: engine } = globalThis as unknown as { WebAssembly: { validate: (code: Uint8Array) => boolean } };

test("the assembler refuses what it does not know", () => {
  const func = (body: string) => `(module (memory (export "m") 1 1) (func (export "f") (param $a i32) (result i32) ${body}))`;
  expect(engine.validate(assemble(func("(i32.add (local.get $a) (i32.const -70000))")))).toBe(true);
  expect(() => assemble(func("(i32.rotl (local.get $a) (i32.const 1))"))).toThrow("`i32.rotl` is not known here");
  expect(() => assemble(func("(local.get $b)"))).toThrow("there is no local `$b`");
  expect(() => assemble(func("(br_if $out (local.get $a))"))).toThrow("there is no block `$out`");
  expect(() => assemble(func("(local.get $a"))).toThrow("a closing parenthesis is missing");
});
