// What a repository is in the middle of, or what is not as usual with it, is said with what to do about it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../../src/tools/git/git.ts";
import { newRepository, type PlainGit, plainGit } from "../../support/git-place.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";

async function place(prepare: (plain: PlainGit) => void) {
  const kernel = await memoryKernel({ tools: [git], preset: "open" });
  const plain = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n" });
  plain.commit("go on", { "a.txt": "beta\n" });
  prepare(plain);
  return async (operation: string, ...args: readonly string[]) => {
    const { outcome } = await kernel.call("git", { operation, args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return outcome.kind === "success" ? outcome.data : outcome;
  };
}

function divided(plain: PlainGit): void {
  plain.git("checkout", "--quiet", "-b", "side", "HEAD~1");
  plain.commit("aside", { "a.txt": "gamma\n" });
}

test("a rebase that stopped: its branch, its step, and how it goes on", async () => {
  const ask = await place(divided);
  expect(await ask("REBASE", "main")).toMatchObject({
    conflicts: ["a.txt"],
    next: expect.stringContaining("REBASE --continue"),
  });
  expect(await ask("STATUS")).toMatchObject({
    in_progress: { operation: "rebase", step: 1, steps: 1 },
    rebasing: "side",
    conflicts: ["a.txt"],
    notes: [expect.stringContaining("a rebase of `side` is under way (step 1 of 1)")],
  });
  await ask("ADD", "a.txt");
  expect(await ask("REBASE", "--continue")).toMatchObject({ conflicts: [] });
  expect(await ask("STATUS")).not.toHaveProperty("in_progress");
});

test("a rebase is given up", async () => {
  const ask = await place(divided);
  await ask("REBASE", "main");
  expect(await ask("REBASE", "--abort")).toMatchObject({ branch: "side" });
  expect(await ask("STATUS")).toMatchObject({ branch: "side", clean: true });
});

test("a commit that no branch holds", async () => {
  const ask = await place((plain) => plain.git("checkout", "--quiet", "--detach"));
  expect(await ask("STATUS")).toMatchObject({ detached: true, notes: [expect.stringContaining("CHECKOUT -b <name>")] });
  expect(await ask("CHECKOUT", "-b", "kept")).toMatchObject({ branch: "kept" });
});

test("a clone with only the newest commits", async () => {
  const ask = await place((plain) => {
    const copy = join(plain.directory, "..", "copy");
    mkdirSync(copy);
    plainGit(copy).git("clone", "--quiet", "--depth=1", `file://${plain.directory}`, ".");
    writeFileSync(join(plain.directory, ".git/shallow"), plainGit(copy).git("rev-parse", "HEAD"));
  });
  expect(await ask("STATUS")).toMatchObject({ shallow: true, notes: [expect.stringContaining("FETCH --unshallow")] });
});

test("files of Git LFS, other working trees, a lock", async () => {
  const ask = await place((plain) => {
    plain.commit("large files", { ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n" });
    plain.git("worktree", "add", "--quiet", join(plain.directory, "..", "other"), "-b", "other");
    plain.put(".git/index.lock", "");
  });
  expect(await ask("STATUS")).toMatchObject({
    lfs: true,
    notes: [
      expect.stringContaining("index.lock"),
      expect.stringContaining("Git LFS"),
      expect.stringContaining("other working trees"),
    ],
  });
  for (const [operation, ...args] of [
    ["COMMIT", "--allow-empty", "-m", "locked"],
    ["STASH"],
    ["STASH", "pop"],
  ] as const)
    expect(await ask(operation, ...args)).toMatchObject({ kind: "error", code: "RESOURCE_BUSY" });
});

test("a repository without commits", async () => {
  const kernel = await memoryKernel({ tools: [git], preset: "open" });
  const plain = newRepository(kernel.root);
  plain.put("a.txt", "alpha\n");
  const ask = async (operation: string, ...args: readonly string[]) =>
    (await kernel.call("git", { operation, args })).outcome;
  expect(await ask("STATUS")).toMatchObject({ data: { branch: "main", untracked: ["a.txt"] } });
  expect(await ask("LOG")).toMatchObject({ data: { commits: [] } });
  await ask("ADD", "a.txt");
  expect(await ask("CHECKOUT", "-b", "work")).toMatchObject({
    data: { branch: "work", text: "on work, without commits" },
  });
  expect(await ask("COMMIT", "-m", "begin")).toMatchObject({ data: { subject: "begin", branch: "work" } });
});
