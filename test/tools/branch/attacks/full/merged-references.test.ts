// References of git through a merge: what they bring is shown, and protected branches are judged as git's own tool is.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BranchPlace, branchPlace, type Call } from "../../../../support/branch-place.ts";

async function treeOf({ kernel, state }: BranchPlace): Promise<string> {
  const [branch] = await kernel.branches.list();
  return join(state, "branches", branch?.id ?? "", "tree");
}

/** Git on the branch as if an agent had found a way around the tool. */
async function gitThere(place: BranchPlace, ...args: readonly string[]): Promise<string> {
  const who = ["-c", "user.name=p", "-c", "user.email=p@example.org"];
  return execFileSync("git", [...who, ...args], { cwd: await treeOf(place), encoding: "utf8" });
}

async function committed(place: BranchPlace, call: Call, name: string): Promise<void> {
  await call("write_file", { path: name, content: `${name}\n` });
  await gitThere(place, "add", name);
  await gitThere(place, "commit", "-qm", `Add ${name}`);
}

const shown = ({ asked }: BranchPlace) => JSON.stringify(asked.map(({ details }) => details));

async function differenceOf({ kernel }: BranchPlace) {
  const [branch] = await kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  return await kernel.branches.difference(branch);
}

test("a person sees the commits and files that a reference gets, and what it loses", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await committed(place, call, "n.txt");
  await committed(place, call, "m.txt");
  const [work] = (await differenceOf(place)).references;
  expect(work).toMatchObject({ name: "refs/heads/work", isProtected: false });
  expect(work?.brings).toEqual([
    "2 commits more",
    expect.stringMatching(/^ {2}[0-9a-f]{7,} Add m\.txt$/),
    expect.stringMatching(/^ {2}[0-9a-f]{7,} Add n\.txt$/),
    "2 files differ",
    "  A m.txt",
    "  A n.txt",
  ]);
  await gitThere(place, "checkout", "-q", "--orphan", "fresh");
  await gitThere(place, "commit", "-qm", "Begin\u001b[2J anew");
  await gitThere(place, "branch", "-qf", "work", "fresh");
  const { references } = await differenceOf(place);
  expect(references.map(({ name }) => name)).toEqual(["HEAD", "refs/heads/fresh", "refs/heads/work"]);
  expect(references[2]?.brings[0]).toBe("1 commit more, and 1 less: it does not go on from what it named");
  expect(references[2]?.brings[1]).toMatch(/Begin\?\[2J anew$/);
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(shown(place)).toContain("1 commit more, and 1 less");
  expect(place.git("log", "--format=%s")).toContain("anew"); // the control: it came
});

const NO_PROTECTED = `@id("own.protected")
@message("protected branches are moved by people")
forbid (principal, action, resource is Handrail::GitRef)
when { context.effect == "write" && resource.protected };`;
const NO_GIT_MERGE = `@id("own.no-git-merge")
@message("main is moved by people")
forbid (principal, action == Handrail::Action::"git:merge", resource is Handrail::GitRef)
when { resource.protected };`;

/** A workspace on `main`, with a branch that adds a commit to it. */
async function onMain(policy: string | undefined, how: "loose" | "packed" = "loose") {
  const place = await branchPlace(policy === undefined ? {} : { policy: { "own.cedar": policy } });
  place.git("branch", "-qm", "main");
  if (how === "packed") place.git("pack-refs", "--all");
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await committed(place, call, "n.txt");
  if (how === "packed") await gitThere(place, "pack-refs", "--all");
  return { place, call };
}

test.each<readonly [what: string, how: "loose" | "packed", policy: string]>([
  ["whatever the action", "loose", NO_PROTECTED],
  ["whatever the action", "packed", NO_PROTECTED],
  ["as git would move it", "loose", NO_GIT_MERGE],
  ["as git would move it", "packed", NO_GIT_MERGE],
])("a merge is no way around a rule about protected branches %s: %s", async (_, how, policy) => {
  const { place, call } = await onMain(policy, how);
  const merged = await call("merge_branch", { name: "one" });
  expect(merged).toMatchObject({ code: "PERMISSION_DENIED" });
  expect([place.git("log", "--format=%s"), existsSync(join(place.workspace, "n.txt"))]).toEqual(["first\n", false]);
  expect((await differenceOf(place)).references[0]).toMatchObject({ name: "refs/heads/main", isProtected: true });
});

test("without such a rule a protected branch is marked, and moves once a person agrees", async () => {
  const { place, call } = await onMain(undefined, "packed");
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(place.git("log", "--format=%s")).toBe("Add n.txt\nfirst\n");
  expect(shown(place)).toMatch(/protected/);
  expect(shown(place)).toContain("Add n.txt");
  const control = await branchPlace({ policy: { "own.cedar": NO_PROTECTED } });
  const other = await control.session();
  await other("create_branch", { name: "one" });
  await committed(control, other, "n.txt");
  expect((await other("merge_branch", { name: "one" })).kind).toBe("success"); // `work` is not protected
});

test("packing references moves none", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await gitThere(place, "pack-refs", "--all");
  expect((await differenceOf(place)).references).toEqual([]);
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(place.git("rev-parse", "--abbrev-ref", "HEAD")).toBe("work\n");
});

test("what git believes or follows of objects and references elsewhere is not merged, and no lock is", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await committed(place, call, "n.txt");
  const there = await treeOf(place);
  mkdirSync(join(there, ".git/objects/info"), { recursive: true });
  for (const path of [
    "objects/info/alternates",
    "objects/info/commit-graph",
    "refs/heads/work.lock",
    "packed-refs.lock",
  ])
    writeFileSync(join(there, ".git", path), "/elsewhere\n");
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  for (const path of [
    "objects/info/alternates",
    "objects/info/commit-graph",
    "refs/heads/work.lock",
    "packed-refs.lock",
  ])
    expect(existsSync(join(place.workspace, ".git", path))).toBe(false);
  expect(place.git("log", "--format=%s")).toBe("Add n.txt\nfirst\n"); // the control: commits came

  await call("create_branch", { name: "two" });
  symlinkSync("../../../a.txt", join(await treeOf(place), ".git/refs/heads/link"));
  expect((await call("merge_branch", { name: "two" })).code).toBe("PERMISSION_DENIED");
  expect(existsSync(join(place.workspace, ".git/refs/heads/link"))).toBe(false);
});

test("a merge waits for nobody who holds a lock of git: it lands once that is gone", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await committed(place, call, "n.txt");
  const lock = place.put("workspace/.git/refs/heads/work.lock", "");
  expect((await call("merge_branch", { name: "one" })).code).toBe("RESOURCE_BUSY");
  expect(existsSync(join(place.workspace, "n.txt"))).toBe(false);
  execFileSync("rm", [lock]);
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success");
  expect(readFileSync(join(place.workspace, "n.txt"), "utf8")).toBe("n.txt\n");
});
