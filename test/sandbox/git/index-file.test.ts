/** What git's index holds of a file, compared with what git itself says; and what is no index. */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Workspace } from "../../../src/model/place/workspace.ts";
import { openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { indexHolds, stagedId } from "../../../src/sandbox/git/index-file.ts";
import { repositoryFiles } from "../../../src/sandbox/git/repository-files.ts";
import { plainGit } from "../../support/git-place.ts";
import { freshPlace } from "../../support/place.ts";

const FILES = {
  "a.txt": "a\n",
  "src/a.ts": "one\n",
  "src/ab.ts": "two\n",
  "src/deep/ümläut.ts": "three\n",
  [`long/${"n".repeat(200)}/${"m".repeat(200)}.txt`]: "long\n",
};

async function repository(...init: readonly string[]) {
  const place = freshPlace();
  const git = plainGit(place.workspace);
  git.git("init", "-q", ...init);
  git.commit("first", FILES);
  const directories = { serviceRoot: place.workspace, projectRoot: place.workspace, sharedPaths: [] };
  const roots = openWorkspaceRoots(directories as unknown as Workspace);
  const files = repositoryFiles(roots.service, ".");
  const index = () => readFileSync(join(place.workspace, ".git/index"));
  return {
    ...git,
    root: place.workspace,
    holds: (path: string, text: string) => indexHolds(files, path, Buffer.from(text)),
    index,
  };
}

describe.each(["2", "4"])("version %s", (version) => {
  test("holds each file as it was staged, and nothing else", async () => {
    const { git, put, holds, index } = await repository();
    git("update-index", "--index-version", version);
    expect(index().readUInt32BE(4)).toBe(Number(version));
    for (const [path, text] of Object.entries(FILES)) {
      expect(holds(path, text)).toBe(true);
      expect(holds(path, `${text}more`)).toBe(false);
      expect(stagedId(index(), path, 20)?.toString("hex")).toBe(git("rev-parse", `:${path}`).trim());
    }
    expect([holds("src", ""), holds("src/b.ts", ""), holds("", ""), holds("a.tx", "a\n")]).toEqual(
      Array(4).fill(false),
    );
    put("new.txt", "new\n");
    expect(holds("new.txt", "new\n")).toBe(false);
    git("add", "new.txt");
    expect(holds("new.txt", "new\n")).toBe(true);
  });

  test("with more flags, as of a file that will be added, holds the others", async () => {
    const { git, put, holds } = await repository();
    git("update-index", "--index-version", version);
    put("meant.txt", "meant\n");
    git("add", "-N", "meant.txt");
    expect([holds("meant.txt", "meant\n"), holds("src/a.ts", "one\n")]).toEqual([false, true]);
  });
});

test("a repository of SHA-256 is read, too", async () => {
  const { holds } = await repository("--object-format=sha256");
  expect([holds("a.txt", "a\n"), holds("a.txt", "b\n")]).toEqual([true, false]);
});

test("a file in conflict, and a link, are not held", async () => {
  const { git, tried, commit, holds } = await repository();
  git("checkout", "-q", "-b", "other");
  commit("theirs", { "a.txt": "theirs\n" });
  git("checkout", "-q", "-");
  commit("ours", { "a.txt": "ours\n" });
  expect(tried("merge", "other").code).toBe(1);
  expect([holds("a.txt", "ours\n"), holds("src/a.ts", "one\n")]).toEqual([false, true]);
  const id = git("hash-object", "-w", "src/a.ts").trim();
  git("update-index", "--add", "--cacheinfo", `120000,${id},link`);
  expect(holds("link", "one\n")).toBe(false);
});

test("a split index holds nothing, because what it shares is not looked at", async () => {
  const { git, holds } = await repository();
  git("update-index", "--split-index");
  expect(holds("a.txt", "a\n")).toBe(false);
});

test("none, one that is cut anywhere, and one that is none hold nothing", async () => {
  const { index, holds, root } = await repository();
  const whole = index();
  expect(stagedId(whole, "a.txt", 20)).toBeDefined(); // the control
  for (let length = 0; length < whole.length; length += 1)
    expect(stagedId(whole.subarray(0, length), "src/deep/ümläut.ts", 20)).toBeUndefined();
  for (const at of [0, 7, 11]) {
    const bent = Buffer.from(whole);
    bent[at] = (bent[at] ?? 0) ^ 0xff;
    expect(stagedId(bent, "a.txt", 20)).toBeUndefined();
  }
  writeFileSync(join(root, ".git/index"), "no index");
  expect([holds("a.txt", "a\n"), statSync(join(root, ".git/index")).size]).toEqual([false, 8]);
  rmSync(join(root, ".git/index"));
  expect(holds("a.txt", "a\n")).toBe(false);
});
