// A disk that is full while a command's changes land: nothing lands, no lock and no file in the making is left, and it
// is said that nothing was kept and why.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "../../../../support/children/run.ts";

const isRoot = process.geteuid?.() === 0;

interface Attempt {
  readonly exitCode: number;
  readonly problem?: readonly [code: string, message: string, isWithoutEffect: boolean];
  readonly landed?: { readonly notKept: readonly unknown[] };
  readonly tree: readonly string[];
}

interface Facts {
  readonly before: { readonly tree: readonly string[] };
  readonly attempts: readonly Attempt[];
  readonly left: readonly string[];
}

test.each(["beside", "elsewhere"])(
  "with views %s of the workspace: whatever step finds no room, all is as it was",
  async (views) => {
    if (!isRoot) return; // nobody else can mount there
    const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-full-disk-"));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    chmodSync(base, 0o755);
    mkdirSync(join(base, "disk"));
    const child = startChild("landing-full-disk", [base, views], ["unshare", "-m"]);
    expect(await child.ended).toBe("0");
    const { before, attempts, left }: Facts = JSON.parse(child.lines().at(-1) ?? "");
    const refused = attempts.slice(0, -1);
    expect(refused.length).toBeGreaterThan(0);
    for (const { problem, landed, tree, exitCode } of refused) {
      const why = "the disk is full, so nothing of what the command changed was kept";
      expect([exitCode, problem, landed, tree]).toEqual([0, ["DISK_FULL", why, true], undefined, before.tree]);
    }
    // The control: with a little more room the same lands.
    expect(attempts.at(-1)).toMatchObject({ landed: { notKept: [] }, tree: ["locked", "n", "n/big"] });
    expect(left).toEqual([]);
  },
);
