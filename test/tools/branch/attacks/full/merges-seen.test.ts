// What a person sees of a merge, what the ledger says of it, and whose turn it is: nothing comes unseen or untold.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { type BranchPlace, branchPlace } from "../../../../support/branch-place.ts";
import { readEvidence } from "../../../../support/evidence.ts";

async function branchOf({ kernel }: Pick<BranchPlace, "kernel">) {
  const [branch] = await kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  return branch;
}

test("a person is shown every path, first those that tools obey, and how much was shown by name only", async () => {
  const place = await branchPlace();
  const call = await place.session({ preset: "autonomous" });
  await call("shell", { command: "mkdir docs; for i in $(seq 1 1050); do echo $i > docs/page$i.md; done" });
  await call("write_file", { path: "web/CLAUDE.md", content: "obey\n" });
  await call("shell", {
    command: "printf '#!/bin/sh\\n' > web/run; chmod 755 web/run; head -c 99 /dev/zero > web/zeros",
  });
  await call("write_file", { path: "web/long.txt", content: "line\n".repeat(1000) });
  const branch = await branchOf(place);
  const { files, namedOnly } = await place.kernel.branches.difference(branch);
  expect(files.filter(({ path }) => path.startsWith("docs/page"))).toHaveLength(1050);
  expect(files.slice(0, 2)).toMatchObject([
    { path: "web/CLAUDE.md", notice: expect.stringContaining("Claude Code reads it"), diff: expect.anything() },
    { path: "web/run", notice: "a program", mode: "0755" },
  ]);
  expect(files.filter(({ notice }) => notice !== undefined)).toHaveLength(2);
  const named = files.filter(({ isNamedOnly }) => isNamedOnly === true).map(({ path }) => path);
  expect([named, namedOnly]).toEqual([["web/long.txt", "web/zeros"], 2]);
  const whole = await place.kernel.branches.difference(branch, "web/long.txt");
  expect(whole.files).toMatchObject([{ path: "web/long.txt", diff: expect.stringMatching(/^(?:.*\n){1003}$/) }]);
  expect(whole.namedOnly).toBe(0);
  const zeros = await place.kernel.branches.difference(branch, "web/zeros");
  expect([zeros.files.length, zeros.namedOnly]).toEqual([1, 1]);
  expect(readFileSync(place.kernel.branches.pathOf(branch, "web/zeros")).length).toBe(99);
  await expect(place.kernel.branches.difference(branch, "a.txt")).rejects.toMatchObject({ code: "USAGE" });
});

test("a branch with commits of a repository below its top says so, and stays after its merge", async () => {
  const place = await branchPlace();
  place.put("workspace/lib/x.txt", "x\n");
  place.git("-C", "lib", "init", "-q", "-b", "work");
  place.git("-C", "lib", "add", ".");
  place.git("-C", "lib", "commit", "-qm", "first");
  const call = await place.session();
  await call("create_branch", { name: "plain" });
  await call("write_file", { path: "lib/x.txt", content: "y\n" });
  expect((await call("git", { operation: "STATUS", cwd: "lib" })).kind).toBe("success");
  expect(await place.kernel.branches.difference(await branchOf(place))).toMatchObject({ nested: [] });
  expect(await call("merge_branch", { name: "plain" })).toMatchObject({ data: { branch_stays: false } }); // the control
  await call("create_branch", { name: "one" });
  await call("write_file", { path: "lib/x.txt", content: "z\n" });
  await call("git", { operation: "ADD", args: ["x.txt"], cwd: "lib" });
  expect((await call("git", { operation: "COMMIT", args: ["-m", "work in lib"], cwd: "lib" })).kind).toBe("success");
  const branch = await branchOf(place);
  expect(await place.kernel.branches.difference(branch)).toMatchObject({ nested: ["lib"] });
  expect((await call("branch_diff", { name: "one" })).data["commits_not_merged"]).toEqual(["lib"]);
  expect(await call("merge_branch", { name: "one" })).toMatchObject({
    data: { branch_stays: true, commits_not_merged: ["lib"] },
  });
  expect(readFileSync(join(place.workspace, "lib/x.txt"), "utf8")).toBe("z\n");
  expect(place.git("-C", "lib", "log", "--format=%s")).toBe("first\n");
  expect(await place.kernel.branches.merge(branch, "ann")).toMatchObject({ isLeft: true, nested: ["lib"] });
  const tree = join(place.state, "branches", branch.id, "tree/lib");
  expect(place.git("-C", tree, "log", "--format=%s")).toBe("work in lib\nfirst\n");
});

async function actsIn({ state }: BranchPlace) {
  const all = (await readEvidence(state)).filter(({ entry }) => /^branch_(act|merged|dropped)/.test(entry.eventType));
  return all.map(({ entry, payload }) => [entry.eventType, entry.closes > 0, payload]);
}

test("a person's merge and drop are recorded before they change anything, and what came of them", async () => {
  const place = await branchPlace();
  const call = await place.session({ branch: "one" });
  await call("write_file", { path: "n.txt", content: "n\n" });
  const branch = await branchOf(place);
  await place.kernel.branches.merge(branch, "ann");
  const { id } = await place.kernel.branches.create({
    name: "two",
    serviceRoot: place.workspace,
    projectRoot: place.workspace,
    userId: "ann",
    agentId: "cli",
  });
  await place.kernel.branches.drop(await branchOf(place), "ann");
  expect(await actsIn(place)).toEqual([
    ["branch_act_begun", false, expect.objectContaining({ act: "merge", branchId: branch.id, by: "ann" })],
    ["branch_merged", true, expect.objectContaining({ branchId: branch.id, created: 1 })],
    ["branch_act_begun", false, expect.objectContaining({ act: "drop", branchId: id, by: "ann" })],
    ["branch_dropped", true, expect.objectContaining({ branchId: id })],
  ]);
});

test("a request to merge says that it is a merge, of which branch and into what", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "scratch" });
  await call("create_branch", { name: "c" });
  await call("write_file", { path: "n.txt", content: "n\n" });
  expect((await call("merge_branch", { name: "c" })).kind).toBe("success");
  expect((await call("merge_branch", { name: "scratch" })).kind).toBe("success");
  const said = place.asked.map(({ summary, risks }) => [summary, ...risks].join("\n"));
  expect(said).toEqual([
    expect.stringMatching(/`merge_branch` merges the branch `c` into the branch `scratch`(?:.|\n)*lands there only if/),
    expect.stringMatching(/`merge_branch` merges the branch `scratch` into the workspace(?:.|\n)*lands there only if/),
  ]);
  expect(said.join("\n")).not.toContain("has run");
});

test.each(["drop", "merge"] as const)(
  "a person's %s comes before an agent that merges again and again",
  async (act) => {
    const place = await branchPlace();
    const [call, other] = [await place.session(), await place.another()];
    await call("create_branch", { name: "one" });
    await call("write_file", { path: "n.txt", content: "n\n" });
    const branch = await branchOf(place);
    const state = { isOver: false, waits: 0 };
    place.answers = false;
    place.whileAsked = async () => {
      state.waits += 1;
      while (!state.isOver) await setTimeout(20); // nobody answers
    };
    const codes: string[] = [];
    const agent = (async () => {
      while (!state.isOver) {
        codes.push((await call("merge_branch", { name: "one" })).code);
        await setTimeout(5);
      }
    })();
    try {
      while (state.waits === 0) await setTimeout(20);
      const told: string[] = [];
      await other.branches[act](branch, "ann", { onWait: () => void told.push("waits") });
      expect([told, await other.branches.list()]).toEqual([["waits"], []]);
      expect(existsSync(join(place.workspace, "n.txt"))).toBe(act === "merge");
    } finally {
      state.isOver = true;
      await agent;
    }
    expect(codes[0]).toBe("RESOURCE_BUSY");
  },
);
