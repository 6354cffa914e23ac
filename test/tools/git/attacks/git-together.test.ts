// What git writes that nobody named, and what several files are together. Plain git makes all of it.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { newRepository, type PlainGit } from "../../../support/git-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";

async function place() {
  const kernel = await memoryKernel({ tools: [git] });
  const plain: PlainGit = newRepository(kernel.root);
  const ask = async (operation: string, ...args: readonly string[]) => {
    const { outcome } = await kernel.call("git", { operation, args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return JSON.stringify(outcome);
  };
  return { plain, ask, stands: (path: string) => existsSync(join(kernel.root, path)) };
}

/** One branch moves a directory to a name that counts, the other makes a file in it. */
function divide(plain: PlainGit): void {
  plain.commit("begin", { "t/one": "a first file\n", "t/two": "a second file\n" });
  plain.git("checkout", "--quiet", "-b", "theirs");
  plain.commit("theirs", { "t/bazel": "#!/bin/sh\n" });
  plain.git("checkout", "--quiet", "-b", "ours", "HEAD~1");
  plain.git("mv", "t", "tools");
  plain.git("commit", "--quiet", "-m", "ours");
}

test("a merge writes a new file where it was named, not where the other side moved its directory to", async () => {
  const { plain, ask, stands } = await place();
  divide(plain);
  expect(await ask("MERGE", "theirs")).toContain('"success"');
  expect([stands("t/bazel"), stands("tools/bazel")]).toEqual([true, false]);
});

test("control: plain git writes it there", async () => {
  const { plain, stands } = await place();
  divide(plain);
  plain.git("-c", "merge.directoryRenames=true", "merge", "--quiet", "--no-edit", "theirs");
  expect(stands("tools/bazel")).toBe(true);
});

/** A commit that holds the parts of a repository, which are not in the working tree. */
function withParts(plain: PlainGit): void {
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "parts");
  plain.commit("parts", { "w/objects/00/f": "1\n", "w/refs/f": "2\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
}

test.each([
  ["CHECKOUT", "parts"],
  ["MERGE", "parts"],
])("%s does not bring the parts of a repository together", async (...call) => {
  const { plain, ask, stands } = await place();
  withParts(plain);
  expect(await ask(...call)).toContain("a repository of its own");
  expect(stands("w")).toBe(false);
});

test("control: plain git brings them together", async () => {
  const { plain, stands } = await place();
  withParts(plain);
  plain.git("merge", "--quiet", "parts");
  expect([stands("w/objects/00/f"), stands("w/refs/f")]).toEqual([true, true]);
});

test("a path that no command could be shown later is not checked out", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "deep");
  plain.commit("deep", { [`${"d/".repeat(100)}f`]: "1\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
  expect(await ask("CHECKOUT", "deep")).toContain("longer or deeper than a workspace takes");
  expect(stands("d")).toBe(false);
});

test("a branch that has no commit yet takes no file that may not be written", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n", "CLAUDE.md": "obey\n" });
  plain.git("checkout", "--quiet", "--orphan", "empty");
  plain.git("rm", "-r", "--quiet", "--force", ".");
  expect(await ask("CHECKOUT", "-b", "mine", "main")).toContain("CLAUDE.md");
  expect([stands("CLAUDE.md"), stands("a.txt")]).toEqual([false, false]);
});

test("a branch that has no commit yet begins where it is told to", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "--orphan", "empty");
  plain.git("rm", "-r", "--quiet", "--force", ".");
  expect(await ask("CHECKOUT", "-b", "mine", "main")).toContain('"success"');
  expect(stands("a.txt")).toBe(true);
});

test("what is put aside does not come back as the parts of a repository, one known to git and one not", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n", "w/objects/00/f": "1\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  plain.put("w/objects/00/f", "2\n");
  plain.put("w/refs/f", "2\n");
  plain.git("stash", "push", "--quiet", "--include-untracked");
  plain.git("rm", "--quiet", "w/objects/00/f");
  plain.git("commit", "--quiet", "-m", "without");
  expect(await ask("STASH", "pop")).toContain("a repository of its own");
  expect(stands("w/refs")).toBe(false);
});

test("a merge that follows the renaming of a file writes nothing that may not be written", async () => {
  const { plain, ask, stands } = await place();
  const text = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join("");
  plain.commit("begin", { a: text });
  plain.git("checkout", "--quiet", "-b", "theirs");
  plain.commit("theirs", { a: `${text}theirs\n` });
  plain.git("checkout", "--quiet", "-b", "ours", "HEAD~1");
  plain.git("rm", "--quiet", "a");
  plain.commit("ours", { "w/refs/f": text });
  rmSync(join(plain.directory, "w"), { recursive: true });
  plain.put("w/objects/00/f", "1\n");
  expect(await ask("MERGE", "theirs")).toContain("`w/refs`");
  expect(stands("w/refs")).toBe(false);
});

test("a merge from two bases writes nothing that may not be written", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "w/refs/f": "1\n", "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "second");
  plain.git("rm", "-r", "--quiet", "w");
  plain.git("commit", "--quiet", "-m", "without");
  plain.git("checkout", "--quiet", "-b", "first", "main");
  plain.commit("first", { "a.txt": "b\n" });
  const merged = (name: string, from: string, other: string) => {
    plain.git("checkout", "--quiet", "-b", name, from);
    plain.git("merge", "--quiet", "--no-edit", other);
  };
  merged("theirs", "first", "second");
  plain.commit("again", { "w/refs/f": "2\n" });
  merged("ours", "second", "first");
  plain.commit("objects", { "w/objects/00/f": "1\n" });
  expect(await ask("MERGE", "theirs")).toContain("w/refs");
  expect(stands("w/refs")).toBe(false);
});
