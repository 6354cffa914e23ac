/** Chunks: how files are cut into parts that are found and shown as a whole. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { CHUNK_LINES_MAX } from "../../src/knowledge/chunk.ts";
import { chunksOf } from "../../src/knowledge/chunk-file.ts";
import type { SyntaxNode } from "../../src/knowledge/syntax-node.ts";

const lines = (count: number, text = "x") => `${Array.from({ length: count }, () => text).join("\n")}\n`;

/** A node of `[first, last, name?, children?]`. */
function node(
  firstLine: number,
  lastLine: number,
  {
    name,
    children = [],
    isComment = false,
  }: { name?: string; children?: readonly SyntaxNode[]; isComment?: boolean } = {},
): SyntaxNode {
  return { firstLine, lastLine, isComment, children, ...(name !== undefined && { name }) };
}

test("a document is cut at its headings, and a part is named by all headings above it", () => {
  const text = "intro\n# One\na\n## Two\nb\n```\n# no heading\n```\n# Three #\nc\n";
  expect(
    chunksOf("a.md", text, undefined).map(({ firstLine, lastLine, title }) => [firstLine, lastLine, title]),
  ).toEqual([
    [1, 1, ""],
    [2, 3, "One"],
    [4, 8, "One > Two"],
    [9, 10, "Three"],
  ]);
});

test("what has neither headings nor syntax is cut into equal pieces", () => {
  const chunks = chunksOf("data.xyz", lines(130), undefined);
  expect(chunks.map(({ firstLine, lastLine }) => [firstLine, lastLine])).toEqual([
    [1, 44],
    [45, 88],
    [89, 130],
  ]);
  expect(chunksOf("empty.xyz", "", undefined)).toEqual([]);
});

test("code is cut at its declarations: short neighbours together, a long one at what is in it", () => {
  const methods = [node(12, 40, { name: "open" }), node(42, 78, { name: "close" })];
  const root = node(1, 90, {
    children: [
      node(1, 2),
      node(4, 4, { isComment: true }),
      node(5, 9, { name: "short" }),
      node(10, 10, { isComment: true }),
      node(11, 80, { name: "Store", children: methods }),
      node(82, 90, { name: "last" }),
    ],
  });
  expect(
    chunksOf("a.ts", lines(90), root).map(({ firstLine, lastLine, title, symbols }) => [
      firstLine,
      lastLine,
      title,
      symbols.join(),
    ]),
  ).toEqual([
    [1, 9, "short", "short"],
    [10, 41, "Store > open", "Store,open"],
    [42, 80, "Store > close", "close"],
    [81, 90, "last", "last"],
  ]);
});

test("whatever the tree, chunks are in order, cover each line once, and are not too long", () => {
  const { tree } = fc.letrec<{ tree: SyntaxNode }>((tie) => ({
    tree: fc
      .tuple(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 120 }),
        fc.boolean(),
        fc.oneof({ depthSize: "small" }, fc.constant([]), fc.array(tie("tree"), { maxLength: 4 })),
      )
      .map(([first, length, isComment, children]) => node(first, first + length, { name: "n", isComment, children })),
  }));
  fc.assert(
    fc.property(tree, fc.integer({ min: 1, max: 250 }), (root, count) => {
      let line = 0;
      for (const chunk of chunksOf("a.ts", lines(count), root)) {
        expect(chunk.firstLine).toBe(line + 1);
        expect(chunk.lastLine).toBeGreaterThanOrEqual(chunk.firstLine);
        expect(chunk.lastLine - chunk.firstLine).toBeLessThan(CHUNK_LINES_MAX);
        line = chunk.lastLine;
      }
      expect(line).toBeGreaterThanOrEqual(count);
    }),
  );
});
