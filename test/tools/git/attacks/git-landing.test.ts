// Git's changes of files land as a whole from a view: beside locks of other gits, other calls, and file tools.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
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
  const at = (path: string) => join(kernel.root, path);
  return { kernel, plain, ask, at, stands: (path: string) => existsSync(at(path)) };
}

test.each(["index", "HEAD"])("nothing lands while another git holds the lock of %s", async (name) => {
  const { plain, ask, at, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "other");
  plain.commit("other", { "a.txt": "b\n", "b.txt": "b\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
  writeFileSync(at(`.git/${name}.lock`), "");
  expect(await ask("CHECKOUT", "other")).toMatch(/"code":"(?:RESOURCE_BUSY|GIT_FAILED)"/);
  expect([stands("b.txt"), stands(`.git/${name}.lock`), plain.git("status", "--porcelain")]).toEqual([false, true, ""]);
  rmSync(at(`.git/${name}.lock`));
  expect(await ask("CHECKOUT", "other")).toContain('"success"');
  expect([stands("b.txt"), stands(`.git/${name}.lock`), plain.git("status", "--porcelain")]).toEqual([true, false, ""]);
});

test("what has landed looks unchanged to programs that ask the index alone", async () => {
  const { plain, ask } = await place();
  plain.commit("begin", { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  plain.git("checkout", "--quiet", "-b", "other");
  plain.commit("other", { "a.txt": "A\n", "b.txt": "B\n", "d.txt": "d\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
  plain.git("update-index", "-q", "--refresh");
  expect(await ask("CHECKOUT", "other")).toContain('"success"');
  expect(plain.tried("diff-index", "--quiet", "HEAD", "--").code).toBe(0);
  plain.put("a.txt", "x\n");
  expect(plain.tried("diff-index", "--quiet", "HEAD", "--").code).toBe(1);
  expect(await ask("STASH", "push")).toContain('"success"');
  expect(plain.tried("diff-index", "--quiet", "HEAD", "--").code).toBe(0);
});

test("a lock that another git takes while an operation runs keeps it from landing", async () => {
  const { plain, ask, at, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "other");
  plain.commit("other", { "b.txt": "b\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
  let landed = 0;
  for (let delayMs = 0; delayMs < 400 || landed === 0; delayMs += delayMs < 400 ? 20 : delayMs) {
    const asked = ask("CHECKOUT", "other");
    await setTimeout(delayMs);
    const isBefore = !stands("b.txt");
    if (isBefore) writeFileSync(at(".git/index.lock"), "");
    const answer = await asked;
    if (answer.includes('"success"')) landed += 1;
    // whoever holds the lock finds the index as it was when they took it
    if (isBefore && !answer.includes('"success"')) expect(plain.git("branch", "--show-current").trim()).toBe("work");
    expect(stands("b.txt")).toBe(answer.includes('"success"'));
    rmSync(at(".git/index.lock"), { force: true });
    plain.git("checkout", "--quiet", "work");
  }
  expect(landed).toBeGreaterThan(0);
});

test("of two that bring back a stash at once none brings back another one unasked", async () => {
  const { plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  for (let round = 0; round < 4; round += 1) {
    plain.put("CLAUDE.md", "a person's\n");
    plain.git("stash", "push", "--quiet", "--include-untracked");
    plain.put("a.txt", `${round}\n`);
    plain.git("stash", "push", "--quiet");
    const first = ask("STASH", "pop");
    await setTimeout(round * 30);
    const answers = await Promise.all([first, ask("STASH", "pop")]);
    expect(answers.filter((answer) => answer.includes('"success"')).length).toBe(1);
    expect(stands("CLAUDE.md")).toBe(false);
    expect(plain.git("stash", "list").trim().split("\n")).toHaveLength(1);
    plain.git("checkout", "--quiet", "--force", "work");
    plain.git("stash", "drop", "--quiet");
  }
});

test("control: plain git brings both back", async () => {
  const { plain, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.put("CLAUDE.md", "a person's\n");
  plain.git("stash", "push", "--quiet", "--include-untracked");
  plain.git("stash", "pop", "--quiet");
  expect(stands("CLAUDE.md")).toBe(true);
});

test("an operation and a file tool at the same moment do not bring the parts of a repository together", async () => {
  const { kernel, plain, ask, stands } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "parts");
  const parts = Array.from({ length: 20 }, (_, index) => [`w/${index}/objects/00/f`, "1\n"] as const);
  plain.commit("parts", Object.fromEntries(parts));
  plain.git("checkout", "--quiet", "-b", "work", "main");
  for (const delayMs of [0, 40, 80, 120, 160]) {
    const asked = ask("CHECKOUT", "parts");
    await setTimeout(delayMs);
    const written = await Promise.all(
      parts.map((_, index) => kernel.call("write_file", { path: `w/${index}/refs/f`, content: "2\n" })),
    );
    await asked;
    expect(written.length).toBe(20);
    const both = parts.filter((_, index) => stands(`w/${index}/objects`) && stands(`w/${index}/refs`));
    expect(both).toEqual([]);
    rmSync(join(kernel.root, "w"), { recursive: true, force: true });
    plain.git("checkout", "--quiet", "--force", "work");
  }
});

test("what somebody commits while an operation runs is not lost", async () => {
  const { plain, ask, at } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "theirs");
  plain.commit("theirs", { "t.txt": "t\n" });
  plain.git("checkout", "--quiet", "-b", "work", "main");
  const asked = ask("MERGE", "--no-ff", "theirs");
  await setTimeout(60);
  plain.commit("a person's", { "p.txt": "p\n" });
  await asked;
  expect(plain.git("log", "--format=%s", "work")).toContain("a person's");
  expect(readFileSync(at("p.txt"), "utf8")).toBe("p\n");
  expect(plain.git("status", "--porcelain")).toBe("");
});

test.each([
  ["MERGE", ["evil"]],
  ["COMMIT", ["--allow-empty", "-m", "evil"]],
])("%s beside a CHECKOUT of a protected branch does not move that branch unasked", async (operation, args) => {
  const { plain, ask } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.git("checkout", "--quiet", "-b", "evil");
  plain.commit("evil", { "e.txt": "e\n" });
  const main = plain.git("rev-parse", "main");
  for (const delayMs of [0, 20, 60, 120]) {
    plain.git("checkout", "--quiet", "-B", "feature", "main");
    const asked = ask("CHECKOUT", "main");
    await setTimeout(delayMs);
    await Promise.all([asked, ask(operation, ...args)]);
    expect(plain.git("rev-parse", "main")).toBe(main);
  }
});

test("what a name names is shown of one commit, whatever is checked out meanwhile", async () => {
  const { plain, ask } = await place();
  plain.commit("begin", { "a.txt": "a\n" });
  plain.commit("secret", { ".env": "plain words that nobody knows for a secret\n" });
  plain.git("rm", "--quiet", ".env");
  plain.git("commit", "--quiet", "-m", "removed");
  plain.git("branch", "removed");
  plain.git("checkout", "--quiet", "-b", "later");
  plain.commit("later", { "b.txt": "b\n" });
  expect(await ask("SHOW", "removed")).toContain('"left_out":1');
  for (const delayMs of [0, 20, 40, 80, 120]) {
    const shown = [ask("SHOW", "HEAD"), ask("LOG", "-p", "-n", "1"), ask("DIFF", "HEAD~1", "HEAD")];
    await setTimeout(delayMs);
    await ask("CHECKOUT", "removed");
    for (const answer of await Promise.all(shown)) expect(answer).not.toContain("plain words");
    plain.git("checkout", "--quiet", "later");
  }
});
