/** Git's index learns of files that have landed, by what plain git says of it; and what it leaves alone. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Workspace } from "../../../src/model/place/workspace.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { refreshedIndex } from "../../../src/sandbox/git/landed-index.ts";
import { unnotedNames } from "../../support/files-fixture.ts";
import { plainGit } from "../../support/git-place.ts";
import { freshPlace } from "../../support/place.ts";

const FILES = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/ümläut.txt": "c\n" };

/** A repository whose files each were replaced by one with the same bytes and times, as a landing does. */
function landed(...init: readonly string[]) {
  const place = freshPlace();
  const git = plainGit(place.workspace);
  git.git("init", "-q", ...init);
  git.commit("first", FILES);
  const at = (path: string) => join(place.workspace, path);
  const replace = (path: string, content = readFileSync(at(path))) => {
    const { mtimeMs } = statSync(at(path));
    writeFileSync(at(`${path}.new`), content);
    utimesSync(at(`${path}.new`), mtimeMs / 1000, mtimeMs / 1000);
    renameSync(at(`${path}.new`), at(path));
  };
  // times to the millisecond can be given to another file; the index is not of the same instant as its files
  for (const path of Object.keys(FILES)) utimesSync(at(path), 1_700_000_000, 1_700_000_000);
  git.git("update-index", "-q", "--refresh");
  const directories = { serviceRoot: place.workspace, projectRoot: place.workspace, sharedPaths: [] };
  const roots = openWorkspaceRoots(directories as unknown as Workspace);
  const refresh = (sinceMs = 0) => {
    const steps = refreshedIndex({ workspace: roots.service, root: ".", sinceMs }, unnotedNames);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value?.replace() ?? false;
    }
  };
  /** What looks changed to git where it compares no contents. */
  const dirty = () => git.git("-c", "core.quotePath=false", "diff-files", "--name-only").split("\n").filter(Boolean);
  return { ...git, at, replace, refresh, dirty, index: () => readFileSync(at(".git/index")) };
}

describe.each([["2"], ["4"], ["2", "--object-format=sha256"]])("version %s %s", (version, ...init) => {
  test("all that landed is known again, and nothing that is staged is another", () => {
    const { git, replace, refresh, dirty, at } = landed(...init);
    git("update-index", "--index-version", version);
    const before = { staged: git("ls-files", "--stage"), stats: statSync(at(".git/index")) };
    for (const path of Object.keys(FILES)) replace(path);
    expect(dirty()).toEqual(Object.keys(FILES)); // the control
    expect(refresh()).toBe(true);
    expect(dirty()).toEqual([]);
    expect(git("ls-files", "--stage")).toBe(before.staged);
    git("fsck", "--strict");
    const { mode, uid, mtimeMs } = statSync(at(".git/index"));
    expect({ mode, uid }).toEqual({ mode: before.stats.mode, uid: before.stats.uid });
    expect(Math.floor(mtimeMs)).toBe(Math.floor(before.stats.mtimeMs));
    expect(readdirSync(at(".git")).filter((name) => /lock|handrail/.test(name))).toEqual([]);
    expect(refresh()).toBe(true);
  });
});

test("a file with other bytes stays changed, whatever its time and size", () => {
  const { replace, refresh, dirty, git } = landed();
  replace("a.txt");
  replace("src/b.txt", Buffer.from("longer\n"));
  expect(refresh()).toBe(true);
  expect(dirty()).toEqual(["src/b.txt"]);
  expect(git("status", "--porcelain")).toBe(" M src/b.txt\n");
});

test("a file that another time was given, and one that git knew before, are left", () => {
  const { replace, refresh, dirty, at } = landed();
  replace("a.txt");
  replace("src/b.txt");
  utimesSync(at("src/b.txt"), 1_700_000_001, 1_700_000_001);
  expect(refresh(1_700_000_000_500)).toBe(false);
  expect(dirty()).toEqual(["a.txt", "src/b.txt"]);
  expect(refresh()).toBe(true);
  expect(dirty()).toEqual(["src/b.txt"]);
});

test("an index that another git holds, that is no file, or that is bent stays as it is", () => {
  const { replace, refresh, at, index, git } = landed();
  replace("a.txt");
  const before = index();
  writeFileSync(at(".git/index.lock"), "another's");
  expect(refresh()).toBe(false);
  expect([index().equals(before), readFileSync(at(".git/index.lock"), "utf8")]).toEqual([true, "another's"]);
  rmSync(at(".git/index.lock"));
  writeFileSync(at(".git/index"), before.subarray(0, before.length - 1));
  expect(refresh()).toBe(false);
  writeFileSync(at(".git/index"), Buffer.concat([before.subarray(0, 12), Buffer.from([1]), before.subarray(13)]));
  expect(refresh()).toBe(false);
  rmSync(at(".git/index"));
  expect(refresh()).toBe(false);
  expect(existsSync(at(".git/index"))).toBe(false);
  writeFileSync(at(".git/index"), before);
  expect(refresh()).toBe(true); // the control
  expect(git("status", "--porcelain")).toBe("");
});

test("an index without a sum keeps none", () => {
  const { git, replace, refresh, dirty, index, put } = landed();
  git("config", "index.skipHash", "true");
  put("d.txt", "d\n");
  git("add", "d.txt");
  replace("a.txt");
  expect(refresh()).toBe(true);
  expect(dirty()).toEqual([]);
  // older gits write a sum nevertheless
  const isLeftOut = index()
    .subarray(-20)
    .every((byte) => byte === 0);
  git(...((isLeftOut ? ["ls-files", "--stage"] : ["fsck", "--strict"]) as [string, ...string[]]));
});
