// Calls that are at work on a branch while somebody merges it: what they write is never lost.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { OpenKernel } from "../../../../../src/server/compose.ts";
import { type BranchPlace, branchPlace, type Call } from "../../../../support/branch-place.ts";

async function branchOf({ kernel }: Pick<BranchPlace, "kernel">) {
  const [branch] = await kernel.branches.list();
  if (branch === undefined) throw new Error("there is a branch");
  return branch;
}

/** Begins a command that writes after a while, and waits until it is at work. */
async function begin(place: BranchPlace, call: Call): Promise<{ readonly ended: Promise<unknown> }> {
  const notes = join(place.state, "branches", (await branchOf(place)).id, "calls");
  const ended = call("shell", { command: "sleep 6; echo late > late.txt" });
  while (readdirSync(notes).length === 0) await setTimeout(20);
  return { ended };
}

test.each(["the same kernel", "another kernel"])(
  "a person's merge is refused while a command of %s works on the branch, and takes all once it has ended",
  async (whose) => {
    const place = await branchPlace();
    const by: OpenKernel = whose === "the same kernel" ? place.kernel : await place.another();
    const call = await place.session({ branch: "one" }, by);
    await call("write_file", { path: "n.txt", content: "n\n" });
    const { ended } = await begin(place, call);
    await expect(place.kernel.branches.merge(await branchOf(place), "ann")).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("`shell`"),
    });
    expect(existsSync(join(place.workspace, "n.txt"))).toBe(false);
    expect(await ended).toMatchObject({ kind: "success" });
    expect(await place.kernel.branches.merge(await branchOf(place), "ann")).toMatchObject({
      kind: "landed",
      isLeft: false,
    });
    expect(readFileSync(join(place.workspace, "late.txt"), "utf8")).toBe("late\n");
  },
);

test("a branch on which a command begins while its merge is looked at stays with what that writes", async () => {
  const place = await branchPlace();
  const [call, other] = [await place.session(), await place.session({ branch: "one" })];
  await other("write_file", { path: "n.txt", content: "n\n" });
  const late: Promise<unknown>[] = [];
  place.whileAsked = async () => {
    late.push((await begin(place, other)).ended);
  };
  expect(await call("merge_branch", { name: "one" })).toMatchObject({ kind: "success", data: { branch_stays: true } });
  place.whileAsked = async () => undefined;
  expect(await late[0]).toMatchObject({ kind: "success" });
  expect(existsSync(join(place.workspace, "late.txt"))).toBe(false);
  expect((await other("read_file", { path: "late.txt" })).data["content"]).toBe("late\n");
  expect((await call("merge_branch", { name: "one" })).kind).toBe("success"); // the control: it comes with the next one
  expect(readFileSync(join(place.workspace, "late.txt"), "utf8")).toBe("late\n");
  expect(await place.kernel.branches.list()).toEqual([]);
});
