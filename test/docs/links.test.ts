/** Links between pages lead somewhere, and the index names every page. */
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allPages, anchorsOf, linksOf, namedFiles, type Page, readPage } from "./pages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const pages = allPages();

/** Links of a page that lead nowhere. */
function brokenLinks(page: Page): readonly string[] {
  return linksOf(page).flatMap(({ target, anchor }) => {
    if (!existsSync(join(ROOT, target))) return [`${page.path}: there is no \`${target}\``];
    if (anchor === "" || !target.endsWith(".md")) return [];
    return anchorsOf(readPage(target).text).has(anchor)
      ? []
      : [`${page.path}: \`${target}\` has no heading \`${anchor}\``];
  });
}

/** Pages below `docs/` to which neither the index nor the list of decisions links. */
function unlisted(paths: readonly string[], index: Page, decisions: Page): readonly string[] {
  const listed = new Set([...linksOf(index), ...linksOf(decisions)].map(({ target }) => target));
  return paths.filter((path) => path.startsWith("docs/") && path !== index.path && !listed.has(path));
}

test("every link and every anchor leads somewhere", () => {
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});

test("a wrong file and a wrong anchor are found", () => {
  const text =
    "[a](guide/none.md) [b](guide/git.md#none) [c](guide/git.md#git) [d](https://a.example/none.md)\n```\n[e](none.md)\n```\n";
  expect(brokenLinks({ path: "docs/a.md", text })).toEqual([
    "docs/a.md: there is no `docs/guide/none.md`",
    "docs/a.md: `docs/guide/git.md` has no heading `none`",
  ]);
});

test("the index names every page", () => {
  const index = readPage("docs/README.md");
  const decisions = readPage("docs/decisions/README.md");
  const paths = pages.map(({ path }) => path);
  expect(unlisted(paths, index, decisions)).toEqual([]);
  expect(unlisted([...paths, "docs/guide/new.md"], index, decisions)).toEqual(["docs/guide/new.md"]);
});

/** Files and folders of the project that a page names in code marks and that are not there. */
function missingFiles(page: Page): readonly string[] {
  return namedFiles(page.text).filter((path) => {
    if (path.includes("*"))
      return globSync(path.endsWith(".ts") ? path : [path, `${path}.ts`], { cwd: ROOT }).length === 0;
    return !existsSync(join(ROOT, path));
  });
}

test("the checklists for new parts name files that exist", () => {
  const page = readPage("docs/internals/adding.md");
  expect(namedFiles(page.text).length).toBeGreaterThan(60);
  expect(missingFiles(page)).toEqual([]);
  const text =
    "`src/tools/none.ts`, `test/none.test.ts`, `test/stores/*-none.ts`, `src/GROUP/NAME.ts`, `test/tidy.test.ts`";
  expect(missingFiles({ path: "docs/a.md", text })).toEqual([
    "src/tools/none.ts",
    "test/none.test.ts",
    "test/stores/*-none.ts",
  ]);
});

const fileNames = new Set(
  globSync(["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts", "scripts/**/*.mjs", "examples/**/*.{ts,mjs}", ".*.mjs"], {
    cwd: ROOT,
  }).map((path) => path.split("/").at(-1)),
);

/** Files of code that a page names in code marks, by whatever part of their path, and that are nowhere. */
function unknownCode({ path, text }: Page): readonly string[] {
  const named = [...text.matchAll(/`(?:[\w.-]+\/)*([\w.-]+\.(?:ts|mjs))`/g)].map(([, name = ""]) => name);
  return named
    .filter((name) => !/[A-Z]{3}/.test(name) && !fileNames.has(name))
    .map((name) => `${path}: there is no file \`${name}\``);
}

test("pages name files of code that exist", () => {
  expect(pages.filter(({ path }) => /^docs\/|^(README|CONTRIBUTING)/.test(path)).flatMap(unknownCode)).toEqual([]);
  expect(
    unknownCode({ path: "docs/a.md", text: "`kernel/none.ts`, `kernel/pipeline.ts`, `src/x/NAME-store.ts`" }),
  ).toEqual(["docs/a.md: there is no file `none.ts`"]);
});
