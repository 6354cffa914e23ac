// `.gitignore` files mean what git says they mean: trees and rules at random, git as the judge.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IGNORE_WILDCARD_CHARACTERS_MAX, IgnoreRules } from "../../../../src/sandbox/search/tree/ignore-rules.ts";
import { newPlace, type Place } from "../../../support/files-fixture.ts";
import { count, find, searchIn, shortly } from "../../../support/search-fixture.ts";

let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.close());

const MARK = "here\n";

function put(path: string, content = MARK): void {
  const file = join(place.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

async function searched(path = "."): Promise<readonly string[]> {
  const { files } = await count(searchIn(place), path, "here");
  return files.map((file) => file.path);
}

/** What git itself would not ignore, in a repository of its own configuration. */
function gitSees(root: string): readonly string[] {
  const environment = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1", XDG_CONFIG_HOME: root };
  const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { env: environment, encoding: "utf8" });
  git("init", "--quiet");
  return git("ls-files", "--others", "--exclude-standard", "-z")
    .split("\0")
    .filter((path) => path !== "");
}

const name = fc.constantFrom("a", "b", "c.log", "d.txt", "build", "x y");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const rule = fc.oneof(
  path,
  path.map((one) => `/${one}`),
  path.map((one) => `${one}/`),
  path.map((one) => `!${one}`),
  path.map((one) => `!/${one}/`),
  fc.constantFrom(
    "*.log",
    "!*.log",
    "*",
    "!*/",
    "**/b",
    "a/**",
    "!a/**",
    "a/**/b",
    "b*/",
    "[ab]",
    "?",
    "#a",
    "\\#a",
    "a ",
    "!d.txt",
    "/*",
    "*.t?t",
    "",
    "build/*",
    "!build/a",
  ),
);
const rules = fc.array(rule, { maxLength: 5 }).map((lines) => `${lines.join("\n")}\n`);
const tree = fc.record({
  files: fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
  ignores: fc.dictionary(fc.oneof(fc.constant("."), path), rules, { maxKeys: 3 }),
});

describe("as git sees it", () => {
  test("random trees and rules", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async ({ files, ignores }) => {
        const root = realpathSync(mkdtempSync(join(place.root, "tree-")));
        const tryPut = (file: string, content: string) => {
          try {
            mkdirSync(dirname(join(root, file)), { recursive: true });
            writeFileSync(join(root, file), content);
          } catch {
            // Another path has made a directory of it, or a file of its parent: the tree is what it became.
          }
        };
        for (const file of files) tryPut(file, MARK);
        for (const [directory, text] of Object.entries(ignores))
          tryPut(join(directory, ".gitignore"), `${text}# here\n`);
        const seen = gitSees(root).filter((file) => file !== "");
        const folder = root.slice(place.root.length + 1);
        const mine = (await searched(folder))
          .map((file) => file.slice(folder.length + 1))
          .filter((file) => !file.startsWith(".git/"));
        rmSync(root, { recursive: true, force: true });
        expect([...mine].sort()).toEqual([...seen].sort());
      }),
      { numRuns: 80 },
    );
  });
});

describe("in a search", () => {
  test("deeper rules win, and below an ignored directory nothing is looked at", async () => {
    put(".gitignore", "*.log\nout\n");
    put("a.log");
    put("keep/.gitignore", "!b.log\n");
    put("keep/b.log");
    put("keep/c.log");
    put("out/d.txt");
    put("out/.gitignore", "!d.txt\n");
    put("e.txt");
    expect(await searched()).toEqual(["e.txt", "keep/b.log"]);
  });

  test("what the call names is searched whatever rules say of it", async () => {
    put(".gitignore", "out\n*.log\n");
    put("out/deep/a.txt");
    put("out/deep/b.log");
    expect(await searched("out")).toEqual(["out/deep/a.txt"]);
    expect(await searched("out/deep")).toEqual(["out/deep/a.txt"]);
    expect(await searched("out/deep/b.log")).toEqual(["out/deep/b.log"]);
  });

  test("rules above the searched directory hold, also those of the project above the service", async () => {
    put("lib/.gitignore", "gen\n");
    put("lib/src/gen/a.txt");
    put("lib/src/b.txt");
    expect(await searched("lib/src")).toEqual(["lib/src/b.txt"]);
    const service = newPlace("services/one");
    try {
      writeFileSync(join(service.base, "project/.gitignore"), "*.tmp\n");
      writeFileSync(join(service.root, "a.tmp"), MARK);
      writeFileSync(join(service.root, "b.txt"), MARK);
      expect(shortly(await find(searchIn(service), ".", "here"))).toEqual(["b.txt:1:1:here"]);
    } finally {
      service.close();
    }
  });

  test("a `.gitignore` that is a link or a directory is none, as for git", async () => {
    mkdirSync(join(place.root, ".gitignore"));
    put("a.txt");
    expect(await searched()).toEqual(["a.txt"]);
  });
});

describe("rules from strangers", () => {
  const evil = `${"*a".repeat(4)}*b`.replace(/^\*/, "");

  test("with many wildcards are tried on short names alone, with even more on none", () => {
    const rules = IgnoreRules.none.with("", `${evil}\n`);
    expect(rules.leaveOut("aaaab", false)).toBe(true);
    expect(rules.leaveOut(`${"a".repeat(IGNORE_WILDCARD_CHARACTERS_MAX)}ab`, false)).toBe(false);
    expect(IgnoreRules.none.with("", "*a*b*c*d*e*\n").leaveOut("abcde", false)).toBe(false);
    expect(IgnoreRules.none.with("", "*a*\n").leaveOut("b".repeat(200).concat("a"), false)).toBe(true);
  });

  test("do not take for ever", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `*${"a*".repeat(3)}${index}`).join("\n");
    const rules = IgnoreRules.none.with("", lines);
    for (let index = 0; index < 50; index += 1) {
      expect(rules.leaveOut(`${"a".repeat(200)}x${index}z`, false)).toBe(false);
      expect(rules.leaveOut(`dir/${"a".repeat(IGNORE_WILDCARD_CHARACTERS_MAX - 4)}x${index}z`, false)).toBe(false);
    }
  });
});
