/** docs/internals/threat-model.md names assets and layers that it defines, and tests and code that exist. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPage } from "./pages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const page = readPage("docs/internals/threat-model.md").text;
const HEAD = "| threat | asset | layer | defence | test |";

/** First cells of the table in the section `heading`. */
function defined(text: string, heading: string): readonly string[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| ([^|]+) \|/gm)]
    .map(([, cell = ""]) => cell.trim())
    .filter((cell) => cell !== heading.slice(0, -1).toLowerCase());
}

/** Cells of each row of the tables of threats. */
function threatsOf(text: string): readonly (readonly string[])[] {
  return text
    .split(`${HEAD}\n|---|---|---|---|---|\n`)
    .slice(1)
    .flatMap((part) => part.split("\n\n")[0]?.trim().split("\n") ?? [])
    .map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
}

const inMarks = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);

/** What is wrong with the page, each a line for a person. */
function faultsOf(text: string): readonly string[] {
  const assets = defined(text, "Assets");
  const layers = defined(text, "Layers");
  const threats = threatsOf(text);
  const unused = (all: readonly string[], column: number) =>
    all.filter((one) => !threats.some((row) => row[column] === one));
  const sources = inMarks(text).filter((path) => path.startsWith("src/") && !path.endsWith(".test.ts"));
  return [
    ...unused(assets, 1).map((asset) => `no threat to the asset \`${asset}\``),
    ...unused(layers, 2).map((layer) => `nothing is defended by the layer \`${layer}\``),
    ...sources.filter((path) => !existsSync(join(ROOT, path))).map((path) => `there is no \`${path}\``),
    ...threats.flatMap(([threat = "", asset = "", layer = "", , tests = ""]) => [
      ...(assets.includes(asset) ? [] : [`${threat}: \`${asset}\` is no asset`]),
      ...(layers.includes(layer) ? [] : [`${threat}: \`${layer}\` is no layer`]),
      ...(inMarks(tests).length > 0 ? [] : [`${threat}: names no test`]),
      ...inMarks(tests)
        .filter((path) => !path.endsWith(".test.ts") || !existsSync(join(ROOT, path)))
        .map((path) => `${threat}: there is no test \`${path}\``),
    ]),
  ];
}

test("every threat names an asset, a layer and a test that exists", () => {
  expect(threatsOf(page).length).toBeGreaterThan(40);
  expect(defined(page, "Assets").length).toBeGreaterThan(6);
  expect(defined(page, "Attackers").length).toBeGreaterThan(3);
  expect(page).toContain("\n## What is not defended\n");
  expect(faultsOf(page)).toEqual([]);
});

test.each([
  [
    "test/ledger/faults/ledger-disk-full.test.ts",
    "test/faults/none.test.ts",
    "there is no test `test/faults/none.test.ts`",
  ],
  ["`test/ledger/faults/ledger-disk-full.test.ts`", "none", "names no test"],
  ["| evidence | ledger | what cannot", "| planted | ledger | what cannot", "`planted` is no asset"],
  ["| evidence | ledger | what cannot", "| evidence | planted | what cannot", "`planted` is no layer"],
  ["src/approval/remote-writes.ts", "src/approval/none.ts", "there is no `src/approval/none.ts`"],
  ["| network | reached", "| networks | reached", "no threat to the asset `networks`"],
])("a planted fault is found: %s becomes %s", (text, planted, fault) => {
  const changed = page.replace(text, planted);
  expect(changed).not.toBe(page);
  expect(faultsOf(changed)).toContainEqual(expect.stringContaining(fault));
});
