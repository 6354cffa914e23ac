// Branches on a full disk: what cannot be made is not there, and what cannot be merged has not begun to land.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "../../../support/children/run.ts";

interface Tried {
  readonly problem: readonly [string, string];
  readonly left: readonly string[];
  readonly known: number;
}

interface Facts {
  readonly inodes: Tried;
  readonly record: Tried;
  readonly room: Tried;
  readonly merge: Tried & { readonly landed: readonly string[]; readonly state: string; readonly again: string };
  readonly size: number;
  readonly small: number;
}

const isRoot = process.geteuid?.() === 0;

test("what a full disk has no room for is said to be so, and leaves nothing", async () => {
  if (!isRoot) return; // nobody else can mount there
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-full-branch-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  chmodSync(base, 0o755);
  const child = startChild("branch-full-disk", [base], ["unshare", "-m"]);
  expect(await child.ended).toBe("0");
  const facts: Facts = JSON.parse(child.lines().at(-1) ?? "");
  for (const tried of [facts.inodes, facts.record, facts.room])
    expect(tried).toEqual({ problem: ["DISK_FULL", expect.stringMatching(/no branch/)], left: [], known: 0 });
  const { problem, left, landed, state, again } = facts.merge;
  expect(problem).toEqual(["DISK_FULL", expect.stringContaining("nothing was merged")]);
  expect([left, landed, state]).toEqual([[], [], "ready"]);
  // the control: with room the same branch lands
  expect([again, facts.size, facts.small]).toEqual(["landed", 3 * 2 ** 20, 10]);
});
