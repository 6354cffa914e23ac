/** Outlines: which lines of code declare which names, by parsers in a process of their own. */
import { expect, onTestFinished, test } from "vitest";
import { chunksOf } from "../../../src/knowledge/chunk-file.ts";
import type { OutlineNode } from "../../../src/sandbox/matching/outline-messages.ts";
import { Outliner } from "../../../src/sandbox/matching/outline-process.ts";

const outliner = new Outliner();
const namesOf = (node: OutlineNode | undefined): readonly string[] =>
  node === undefined ? [] : [...(node.name === undefined ? [] : [node.name]), ...node.children.flatMap(namesOf)];

async function names(path: string, text: string): Promise<readonly string[]> {
  onTestFinished(() => outliner.close());
  const [outline] = await outliner.outlines([{ path, text }]);
  return namesOf(outline);
}

test.each([
  [
    "a.ts",
    "/** Doc */\nexport function one(p: number) {\n  const local = 1;\n  return local;\n}\nexport const two = 2;\nclass Three {\n  four() {\n    return 4;\n  }\n}\ninterface Five {\n  six: string;\n}\n",
    ["one", "two", "Three", "four", "Five"],
  ],
  ["a.js", "exports.one = function () {\n  return 1;\n};\n", ["one"]],
  [
    "a.py",
    "class One:\n    def two(self):\n        return 2\n\n@cached\ndef three():\n    pass\n",
    ["One", "two", "three"],
  ],
  ["a.go", "package a\n\nfunc One() {\n}\n\ntype Two struct {\n\tA int\n}\n", ["One", "Two"]],
  ["a.rs", "struct One {\n    a: u8,\n}\nimpl One {\n    fn two() {\n    }\n}\n", ["One", "two"]],
  ["a.c", "static int *one(int a)\n{\n  return 0;\n}\n", ["one"]],
])("declarations of %s", async (path, text, wanted) => {
  expect(await names(path, text)).toEqual(expect.arrayContaining(wanted));
});

test("names within a function are no declarations of the file", async () => {
  const text = `function outer() {\n  const inner = 1;\n${"  step();\n".repeat(80)}  return inner;\n}\n`;
  expect(await names("a.ts", text)).toEqual(["outer"]);
});

test("what no parser knows has no outline, beside files that have one", async () => {
  onTestFinished(() => outliner.close());
  const found = await outliner.outlines([
    { path: "a.xyz", text: "one" },
    { path: "a.ts", text: "function one() {}\n" },
    { path: "LICENSE", text: "words\n" },
  ]);
  expect(found.map(namesOf)).toEqual([[], ["one"], []]);
});

test("code that is broken, deep or in one long line is cut all the same, each line once", async () => {
  onTestFinished(() => outliner.close());
  const texts = [
    "function (((\n}}}\nclass\n".repeat(40),
    `${"(".repeat(20_000)}\n`,
    `var a=1;${"function f(){return 1};".repeat(20_000)}\n`,
    "\uFEFFfunction one() {}\r\n\0\n",
  ];
  const files = texts.map((text, index) => ({ path: `a${index}.js`, text }));
  const outlines = await outliner.outlines(files);
  for (const [index, { path, text }] of files.entries()) {
    let next = 1;
    for (const { firstLine, lastLine } of chunksOf(path, text, outlines[index])) {
      expect(firstLine).toBeGreaterThanOrEqual(next);
      expect(lastLine).toBeGreaterThanOrEqual(firstLine);
      next = lastLine + 1;
    }
    expect(next - 1).toBe(text.replace(/\n$/, "").split("\n").length);
  }
});
