/** Every page begins with a sentence that says what the thing is, in few words; lines of its code blocks are short. */
import { expect, test } from "vitest";
import { allPages, blocksOf } from "./pages.ts";

const WORDS_MAX = 20;
const CODE_COLUMNS_MAX = 120;

/** What is wrong with the beginning of a page. */
function faultsOf({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  const [, opening = ""] = /^# [^\n]+\n\n([\s\S]*?)(?:\n\n|$)/.exec(text) ?? [];
  if (!/^[A-Z`[]/.test(opening)) return [`${path}: begin with a heading and a sentence`];
  const sentence = opening.replace(/\s+/g, " ").split(/(?<=[.:;]) /)[0] ?? "";
  const words = sentence.split(" ").length;
  return words > WORDS_MAX ? [`${path}: the first sentence has ${words} words: ${sentence}`] : [];
}

test(`the first sentence of every page has at most ${WORDS_MAX} words`, () => {
  expect(allPages().flatMap(faultsOf)).toEqual([]);
  const long = `# A\n\nA thing ${"is ".repeat(19)}long. It goes on.\n`;
  const bad = ["# A\n\n- a list\n", "# A\n\n## B\n", "A thing.\n", long];
  expect(bad.map((text) => faultsOf({ path: "docs/a.md", text }).length)).toEqual([1, 1, 1, 1]);
  expect(
    faultsOf({ path: "docs/a.md", text: `# A\n\nA thing ${"is ".repeat(17)}short. It ${"goes ".repeat(30)}on.\n` }),
  ).toEqual([]);
});

/** Lines of code blocks that do not fit a screen. */
function longLines({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  return blocksOf(text).flatMap((block) =>
    block.text
      .split("\n")
      .flatMap((line, index) => (line.length > CODE_COLUMNS_MAX ? [`${path}:${block.line + index + 1}`] : [])),
  );
}

test(`a line of a code block has at most ${CODE_COLUMNS_MAX} characters`, () => {
  expect(allPages().flatMap(longLines)).toEqual([]);
  const text = `# A\n\n${"x".repeat(121)}\n\n\`\`\`text\n${"x".repeat(120)}\n${"x".repeat(121)}\n\`\`\`\n`;
  expect(longLines({ path: "docs/a.md", text })).toEqual(["docs/a.md:7"]);
});
