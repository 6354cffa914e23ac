/** Every `handrail.yaml` that a guide shows is one that a kernel takes. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";
import { blocksOf, readPage } from "./pages.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** What else a guide shows as YAML, by the line that it begins with; the tests of those guides read them. */
const OTHER = [/^description: /, /^- (deny|allow|ask|arm)/, /^name: /, /^# (modes|skills|tools|policy)\//];

const shown = globSync("docs/guide/*.md", { cwd: ROOT })
  .sort()
  .flatMap((path) => blocksOf(readPage(path).text).map((block) => ({ ...block, path })))
  .filter(({ info, text }) => info === "yaml" && !OTHER.some((form) => form.test(text)));

test("there are many", () => {
  expect(shown.length).toBeGreaterThan(12);
});

test.each(shown)("$path:$line", async ({ text, path }) => {
  expect(await parseSettings(text, path)).toMatchObject({});
});

test("a wrong key is found", async () => {
  const [first = { text: "", path: "" }] = shown;
  await expect(parseSettings(`${first.text}\nplanted: 1\n`, first.path)).rejects.toThrow("planted");
});
