// Reading by lines: numbers, bounds and margins, wherever the pieces of a file are cut.
import fc from "fast-check";
import { expect, test } from "vitest";
import { numberedLines } from "../../../src/text/numbered-lines.ts";
import { readFile } from "../../../src/tools/file/file-tools.ts";
import { findLines } from "../../../src/tools/file/line-window.ts";

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function find(text: string, first: number, last = Number.POSITIVE_INFINITY, { size = 7, bytesMax = 1000 } = {}) {
  const bytes = Buffer.from(text);
  const found = await findLines({ chunks: pieces(bytes, size), length: bytes.byteLength }, { first, last, bytesMax });
  const shown = Buffer.from(found.bytes.subarray(found.start, found.end)).toString();
  return { shown, from: found.offset + found.start, ...found };
}

test("finds the lines that are asked for, and says what follows", async () => {
  const text = "one\ntwo\nthree\nfour";
  expect(await find(text, 2, 3)).toMatchObject({
    shown: "two\nthree\n",
    from: 4,
    last: 3,
    hasMore: true,
    isCut: false,
  });
  expect(await find(text, 4, 9)).toMatchObject({ shown: "four", last: 4, hasMore: false, total: 4 });
  expect(await find(text, 1)).toMatchObject({ shown: text, from: 0, last: 4, total: 4 });
  expect(await find(text, 5)).toMatchObject({ shown: "", hasMore: false, total: 4 });
  expect(await find("", 1)).toMatchObject({ shown: "", hasMore: false, total: 0 });
});

test("is bounded: whole lines that fit, and a part of a first line that does not", async () => {
  expect(await find("aaaa\nbbbb\ncccc\n", 1, 3, { bytesMax: 12 })).toMatchObject({
    shown: "aaaa\nbbbb\n",
    last: 2,
    hasMore: true,
    isCut: true,
  });
  const huge = `x\n${"é".repeat(50_000)}\nend\n`;
  const found = await find(huge, 2, 2, { bytesMax: 101, size: 4096 });
  expect(found).toMatchObject({ shown: "é".repeat(51), last: 2, hasMore: true, isCut: true });
  expect(found.bytes.byteLength).toBeLessThan(10_000);
});

test("the same is found wherever pieces end, and what stands around comes with it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ maxLength: 12 }).map((line) => line.replaceAll("\n", "")),
        { maxLength: 30 },
      ),
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: 0, max: 10 }),
      fc.integer({ min: 1, max: 40 }),
      async (lines, first, more, size) => {
        const text = lines.map((line) => `${line}\n`).join("");
        const { shown, bytes, from } = await find(text, first, first + more, { size, bytesMax: 100_000 });
        expect(shown).toBe(
          lines
            .slice(first - 1, first + more)
            .map((line) => `${line}\n`)
            .join(""),
        );
        if (shown !== "")
          expect(
            Buffer.from(text)
              .subarray(from, from + Buffer.byteLength(shown))
              .toString(),
          ).toBe(shown);
        expect(text).toContain(Buffer.from(bytes).toString());
      },
    ),
    { numRuns: 100 },
  );
});

test("lines are numbered, and a huge one is cut", () => {
  expect(numberedLines("a\n\nb\n", 9)).toBe("9\ta\n10\t\n11\tb\n");
  expect(numberedLines("", 1)).toBe("");
  expect(numberedLines("x".repeat(2001), 1)).toBe(`1\t${"x".repeat(2000)} … (1 characters left out)`);
});

test("lines and bytes exclude each other, and the end is not before the beginning", () => {
  const problems = (args: object) =>
    readFile.parameters.safeParse({ path: "f", ...args }).error?.issues.map(({ path }) => path[0]) ?? [];
  expect(problems({ start_line: 2, end_line: 2 })).toEqual([]);
  expect(problems({ start_line: 2, end_line: 1 })).toEqual(["end_line"]);
  expect(problems({ start_line: 1, offset: 0, limit: 5 })).toEqual(["offset", "limit"]);
  expect(problems({ end_line: 4, encoding: "base64" })).toEqual(["encoding"]);
});
