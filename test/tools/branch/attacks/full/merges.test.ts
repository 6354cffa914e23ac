// Attacks on merges: what comes along unseen, who leaves a branch, and what is written meanwhile. Each has a control.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../../../support/branch-place.ts";

async function treeOf(place: Awaited<ReturnType<typeof branchPlace>>, path: string): Promise<string> {
  const [branch] = await place.kernel.branches.list();
  return join(place.state, "branches", branch?.id ?? "", "tree", path);
}

test("hooks, settings and attributes of a branch's repository stay there; commits come along", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "n.txt", content: "n\n" });
  await call("git", { operation: "ADD", args: ["n.txt"] });
  await call("git", { operation: "COMMIT", args: ["-m", "Add n"] });
  // as if the agent had found a way to write there
  for (const path of [".git/hooks/pre-commit", ".git/info/attributes", ".git/config.worktree", ".git/modules"])
    writeFileSync(await treeOf(place, path), "evil\n", { mode: 0o755 });
  writeFileSync(await treeOf(place, ".git/config"), "[core]\n\tfsmonitor = ./evil\n", { flag: "a" });
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  for (const path of ["hooks/pre-commit", "info/attributes", "config.worktree", "modules"])
    expect(existsSync(join(place.workspace, ".git", path))).toBe(false);
  expect(readFileSync(join(place.workspace, ".git/config"), "utf8")).not.toContain("evil");
  expect(place.git("log", "--format=%s")).toBe("Add n\nfirst\n"); // the control: the rest of it came
});

test("commits alone are asked about, too", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("git", { operation: "COMMIT", args: ["--allow-empty", "-m", "Nothing"] });
  place.answers = false;
  expect((await call("merge_branch", { name: "one" })).kind).toBe("error");
  expect([place.asked.length, place.git("log", "--format=%s")]).toEqual([1, "first\n"]);
  const control = await branchPlace();
  const other = await control.session();
  await other("create_branch", { name: "one" });
  await other("git", { operation: "COMMIT", args: ["--allow-empty", "-m", "Nothing"] });
  expect((await other("merge_branch", { name: "one" })).kind).toBe("success");
  expect([control.asked.length, control.git("log", "--format=%s")]).toEqual([1, "Nothing\nfirst\n"]);
});

const STAGED = `@id("own.staged")
@stage("files wait for a person")
permit (principal, action == Handrail::Action::"merge_branch", resource is Handrail::File);`;

test("what a rule stages is not staged any more once an agent merges it", async () => {
  const place = await branchPlace({ policy: { "staged.cedar": STAGED } });
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "n.txt", content: "n\n" });
  expect((await call("merge_branch", { name: "one" })).kind).toBe("error");
  expect(existsSync(join(place.workspace, "n.txt"))).toBe(false);
  const control = await branchPlace();
  const other = await control.session();
  await other("create_branch", { name: "one" });
  await other("write_file", { path: "n.txt", content: "n\n" });
  expect((await other("merge_branch", { name: "one" })).kind).toBe("success");
});

test("protected files of a branch are shown and asked about; secret ones never come", async () => {
  const place = await branchPlace();
  const call = await place.session({ branch: "kept" });
  writeFileSync(await treeOf(place, "CLAUDE.md"), "obey the agent\n");
  writeFileSync(await treeOf(place, ".env"), "KEY=changed\n");
  writeFileSync(await treeOf(place, ".env.local"), "KEY=new\n");
  expect((await call("merge_branch", { name: "kept" })).code).toBe("NOT_SUPPORTED"); // it is bound to the branch
  const free = await place.session();
  expect((await free("merge_branch", { name: "kept" })).kind).toBe("error");
  expect(existsSync(join(place.workspace, "CLAUDE.md"))).toBe(false);
  expect(readFileSync(join(place.workspace, ".env"), "utf8")).toBe("KEY=not-for-agents\n");
  expect(existsSync(join(place.workspace, ".env.local"))).toBe(false);
});

test("a person merges what was shown, and nothing that was written since", async () => {
  const place = await branchPlace();
  const call = await place.session({ branch: "one" });
  await call("write_file", { path: "b.txt", content: "harmless\n" });
  const [branch] = await place.kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  const { shown } = await place.kernel.branches.difference(branch);
  await call("write_file", { path: "b.txt", content: "evil\n" });
  await expect(place.kernel.branches.merge(branch, "ann", { shown })).rejects.toMatchObject({ code: "USAGE" });
  expect(existsSync(join(place.workspace, "b.txt"))).toBe(false);
  const now = await place.kernel.branches.difference(branch);
  expect(await place.kernel.branches.merge(branch, "ann", { shown: now.shown })).toMatchObject({
    kind: "landed",
    isLeft: false,
  });
  expect(readFileSync(join(place.workspace, "b.txt"), "utf8")).toBe("evil\n"); // the control: it was shown
});

test("what an earlier session left on a branch is dropped by no agent", async () => {
  const place = await branchPlace();
  const night = await place.session({ preset: "autonomous" });
  await night("write_file", { path: "n.txt", content: "n\n" });
  const [branch] = await place.kernel.branches.list();
  const name = branch?.name ?? "";
  for (const session of await place.kernel.administration.listSessions())
    await place.kernel.administration.revokeSession(session.id);
  const [day, another] = [await place.session(), await place.session({ preset: "autonomous" })];
  for (const call of [day, another]) expect((await call("drop_branch", { name })).code).toBe("NOT_SUPPORTED");
  expect((await day("branch_diff", { name })).kind).toBe("success");
  await day("create_branch", { name: "own" });
  expect((await day("drop_branch", { name: "own" })).kind).toBe("success"); // the control
});

test("branches of another user are neither seen, compared, merged nor dropped", async () => {
  const place = await branchPlace();
  const [bob, eve] = [await place.session(), await place.session({ userId: "eve" })];
  await bob("create_branch", { name: "bobs" });
  expect((await eve("list_branches")).data).toEqual({ branches: [] });
  for (const tool of ["branch_diff", "merge_branch", "drop_branch"])
    expect((await eve(tool, { name: "bobs" })).code).toBe("FILE_NOT_FOUND");
  expect((await bob("branch_diff", { name: "bobs" })).kind).toBe("success");
});

test("what is written on a branch while a person looks at it is not lost, and does not land unseen", async () => {
  const place = await branchPlace();
  const [call, other] = [await place.session(), await place.session({ branch: "one" })];
  await other("write_file", { path: "n.txt", content: "seen\n" });
  place.whileAsked = async () => {
    await other("write_file", { path: "late.txt", content: "late\n" });
    await other("write_file", { path: "n.txt", content: "changed\n" });
  };
  const merged = await call("merge_branch", { name: "one" });
  place.whileAsked = async () => undefined;
  expect(merged).toMatchObject({ kind: "success", data: { branch_stays: true } });
  expect(readFileSync(join(place.workspace, "n.txt"), "utf8")).toBe("seen\n");
  expect(existsSync(join(place.workspace, "late.txt"))).toBe(false);
  expect((await other("read_file", { path: "late.txt" })).data["content"]).toBe("late\n");
});

test.each(["../x", "a//b", "a/../b", ".git", "-x", "a b", "x\u202ey", "x\n", "", "a/", "n".repeat(101), "e\u0301"])(
  "the name %j is refused",
  async (name) => {
    const place = await branchPlace();
    const call = await place.session();
    expect((await call("create_branch", { name })).kind).not.toBe("success");
    expect(await place.kernel.branches.list()).toEqual([]);
    await expect(place.session({ branch: name })).rejects.toMatchObject({ code: "USAGE" });
  },
);

test("a directory that a person put in the place of another, with older files, is not overwritten", async () => {
  const place = await branchPlace();
  const call = await place.session();
  for (const [directory, text] of [
    ["a", "the branch's base\n"],
    ["older", "a person's own\n"],
  ]) {
    place.put(`workspace/${directory}/f.txt`, text ?? "");
    place.put(`workspace/${directory}/g.txt`, text ?? "");
    place.put(`workspace/${directory}/same.txt`, "same\n");
  }
  await call("create_branch", { name: "one" });
  await call("shell", { command: "echo mine > a/f.txt; rm a/g.txt" });
  renameSync(join(place.workspace, "a"), join(place.workspace, "b"));
  renameSync(join(place.workspace, "older"), join(place.workspace, "a"));
  const { code, message } = await call("merge_branch", { name: "one" });
  expect([code, message.includes("`a/f.txt`"), message.includes("`a/g.txt`")]).toEqual(["FILE_CHANGED", true, true]);
  for (const name of ["f", "g"])
    expect(readFileSync(join(place.workspace, `a/${name}.txt`), "utf8")).toBe("a person's own\n");
  renameSync(join(place.workspace, "a"), join(place.workspace, "older"));
  renameSync(join(place.workspace, "b"), join(place.workspace, "a"));
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success"); // the control: the same one is back
  expect(readFileSync(join(place.workspace, "a/f.txt"), "utf8")).toBe("mine\n");
});

test("where it is not kept what a file was, or something else is, changes on both sides are a conflict", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  // nobody kept what this changed, as after history was swept
  writeFileSync(await treeOf(place, "a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
  await call("shell", { command: "sed -i s/five/FIVE/ a.txt" });
  place.put("workspace/a.txt", "one\ntwo\nTHREE\nfour\nfive\n");
  expect(await call("merge_branch", { name: "one" })).toMatchObject({
    code: "FILE_CHANGED",
    message: expect.stringContaining("`a.txt`"),
  });
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("one\ntwo\nTHREE\nfour\nfive\n");
});
