// Loom: what each operation does to the bytes, when edits are refused as a whole, and its laws against naive
// references.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_WRITE_SIZE } from "../../../src/base/limits.ts";
import { findMatches } from "../../../src/text/byte-matches.ts";
import { applyEdits, EDIT_MATCHES_MAX, EDIT_SCAN_BYTES_MAX, type LoomEdit } from "../../../src/tools/edit/loom.ts";

const bytes = (text: string) => Buffer.from(text);
const edit = (operation: LoomEdit["operation"], spec: string, content = "", count = 1): LoomEdit => ({
  operation,
  spec: bytes(spec),
  content: bytes(content),
  count,
});
function apply(original: string | Uint8Array, ...edits: LoomEdit[]): unknown {
  const result = applyEdits(typeof original === "string" ? bytes(original) : original, edits);
  return result.kind === "applied" ? Buffer.from(result.bytes).toString("latin1") : result;
}

describe("operations", () => {
  test("replace, delete, and inserts directly at the matched text, also within a line", () => {
    expect(apply("a b c\n", edit("replace", "b", "B"))).toBe("a B c\n");
    expect(apply("a b c\n", edit("delete", " b", "ignored"))).toBe("a c\n");
    expect(apply("a b c\n", edit("append_after", "b", "!"))).toBe("a b! c\n");
    expect(apply("a b c\n", edit("prepend_before", "b", "!"))).toBe("a !b c\n");
  });

  test("the expected number of matches is replaced everywhere, left to right without overlap", () => {
    expect(apply("x.x.x", edit("replace", "x", "yy", 3))).toBe("yy.yy.yy");
    expect(apply("aaaa", edit("replace", "aa", "b", 2))).toBe("bb");
  });

  test("several edits all see the original", () => {
    expect(
      apply(
        "one\ntwo\nthree\n",
        edit("replace", "one", "two"),
        edit("replace", "two", "three"),
        edit("delete", "three\n"),
      ),
    ).toBe("two\nthree\n");
  });

  test("line ends, byte order mark and bytes that are not UTF-8 stay as they are", () => {
    const original = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      bytes("one\r\ntwo\r\n"),
      Buffer.from([0xff, 0xfe, 0x80]),
    ]);
    const expected = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      bytes("one\r\n2\r\n"),
      Buffer.from([0xff, 0xfe, 0x80]),
    ]);
    expect(apply(original, edit("replace", "two", "2"))).toBe(expected.toString("latin1"));
  });
});

describe("what does not fit changes nothing", () => {
  test("another number of matches names the edit, what it expected and what there is", () => {
    expect(apply("a\na\n", edit("replace", "a", "b"))).toEqual({
      kind: "mismatch",
      edit: 0,
      expected: 1,
      found: 2,
      lines: [1, 2],
    });
    expect(apply("a\n", edit("replace", "a", "b"), edit("delete", "z"))).toEqual({
      kind: "mismatch",
      edit: 1,
      expected: 1,
      found: 0,
      lines: [],
    });
    expect(apply("a\n", edit("replace", "a", "b", 2))).toEqual({
      kind: "mismatch",
      edit: 0,
      expected: 2,
      found: 1,
      lines: [1],
    });
  });

  test("two edits on one line overlap; on neighbouring lines they do not", () => {
    expect(apply("x\na b\n", edit("replace", "a", "1"), edit("replace", "b", "2"))).toEqual({
      kind: "overlap",
      edits: [0, 1],
      line: 2,
    });
    expect(apply("a\nb\nc\n", edit("replace", "a\nb", "1"), edit("append_after", "b\nc", "2"))).toMatchObject({
      kind: "overlap",
      line: 2,
    });
    expect(apply("a\nb\n", edit("replace", "a\n", "1\n"), edit("replace", "b", "2"))).toBe("1\n2\n");
    expect(apply("a a\n", edit("replace", "a", "1", 2))).toBe("1 1\n"); // matches of one edit may share a line
  });

  test("too many matches, too much to search and too large a result", () => {
    expect(apply("a", edit("replace", "a", "b", EDIT_MATCHES_MAX), edit("delete", "a"))).toEqual({
      kind: "too_large",
      what: "matches",
    });
    const many = Array.from({ length: 256 }, () => edit("delete", "a"));
    expect(apply(new Uint8Array(EDIT_SCAN_BYTES_MAX / 256 + 1), ...many)).toEqual({
      kind: "too_large",
      what: "search",
    });
    const huge = edit("replace", "a", "x".repeat(1 << 20), 101);
    expect(apply("a".repeat(101), huge)).toEqual({ kind: "too_large", what: "result" });
    expect(101 << 20).toBeGreaterThan(MAX_WRITE_SIZE);
  });
});

describe("properties", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "\r"), maxLength: 60 });
  const spec = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é"), minLength: 1, maxLength: 4 });

  test("one edit does what splitting at its text and joining does", () => {
    fc.assert(
      fc.property(
        text,
        spec,
        text,
        fc.constantFrom("replace", "delete", "append_after", "prepend_before"),
        (original, found, content, operation) => {
          const parts = original.split(found);
          fc.pre(parts.length > 1);
          const joined = {
            replace: content,
            delete: "",
            append_after: found + content,
            prepend_before: content + found,
          }[operation];
          const result = applyEdits(bytes(original), [edit(operation, found, content, parts.length - 1)]);
          expect(result.kind === "applied" && Buffer.from(result.bytes).toString()).toBe(parts.join(joined));
        },
      ),
    );
  });

  test("edits of different lines give the same in any order, and as if made one after the other", () => {
    const lines = fc.uniqueArray(fc.stringMatching(/^[a-f]{1,3}$/), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(lines, fc.array(text, { minLength: 8, maxLength: 8 }), (names, contents) => {
        const original = names.map((name) => `<${name}>\n`).join("");
        const edits = names.map((name, index) => edit("replace", `<${name}>`, contents[index]));
        const expected = names.reduce(
          (sofar, name, index) => sofar.replace(`<${name}>`, () => contents[index] ?? ""),
          original,
        );
        expect(apply(original, ...edits)).toBe(bytes(expected).toString("latin1"));
        expect(apply(original, ...edits.toReversed())).toBe(bytes(expected).toString("latin1"));
      }),
    );
  });

  test("replacing a text by itself changes nothing", () => {
    fc.assert(
      fc.property(text, spec, text, (before, found, after) => {
        const original = Buffer.concat([
          Buffer.from([0xff]),
          bytes(before),
          bytes(found),
          bytes(after),
          Buffer.from([0x80]),
        ]);
        const count = findMatches(original, { spec: bytes(found), nativeStepsMax: Number.MAX_SAFE_INTEGER }, 0).count;
        expect(apply(original, edit("replace", found, found, count))).toBe(original.toString("latin1"));
      }),
    );
  });

  test("the search in linear time finds what the engine's search finds", () => {
    fc.assert(
      fc.property(text, spec, (haystack, needle) => {
        const find = (nativeStepsMax: number) =>
          findMatches(bytes(haystack), { spec: bytes(needle), nativeStepsMax }, 5);
        expect(find(0)).toEqual(find(Number.MAX_SAFE_INTEGER));
      }),
      { numRuns: 500 },
    );
  });
});
