/** CHANGELOG.md lists what is new under the four headings, each with entries. */
import { expect, test } from "vitest";
import { readPage } from "./pages.ts";

const HEADINGS = ["Added", "Changed", "Fixed", "Removed"];

/** What is wrong with the section of what is not released yet. */
function faultsOf(text: string): readonly string[] {
  const [before = "", ...parts] = (text.split("\n## Unreleased\n")[1]?.split("\n## ")[0] ?? "").split("\n### ");
  const found = parts.map((part) => ({
    heading: part.split("\n")[0] ?? "",
    entries: (part.match(/^- \S/gm) ?? []).length,
  }));
  return [
    ...(before.trim() === "" ? [] : ["an entry stands under no heading"]),
    ...HEADINGS.filter((heading) => !found.some((one) => one.heading === heading)).map(
      (heading) => `\`${heading}\` is missing`,
    ),
    ...found
      .filter(({ heading }) => !HEADINGS.includes(heading))
      .map(({ heading }) => `\`${heading}\` is no heading of a changelog`),
    ...found.filter(({ entries }) => entries === 0).map(({ heading }) => `\`${heading}\` is empty`),
  ];
}

test("what is not released yet stands under Added, Changed, Fixed and Removed", () => {
  const { text } = readPage("CHANGELOG.md");
  expect(faultsOf(text)).toEqual([]);
  expect(faultsOf(text.replace("## Unreleased\n", "## Unreleased\n\n- planted\n"))).toEqual([
    "an entry stands under no heading",
  ]);
  expect(faultsOf(text.replace("### Removed", "### Planted"))).toEqual([
    "`Removed` is missing",
    "`Planted` is no heading of a changelog",
  ]);
});
