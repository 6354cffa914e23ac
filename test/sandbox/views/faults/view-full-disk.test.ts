// A disk that is full where views lie: while one is made, while the command writes into it, or while what it changed is
// collected. Nothing lands, nothing is left, and it is said that the disk is full.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "../../../support/children/run.ts";

const isRoot = process.geteuid?.() === 0;

const KEPT_NOTHING = "the disk is full, so nothing of what the command changed was kept";
const NO_COPY = "there is too little room for a copy of the workspace; the command did not run";
const full = (message: string, hasRun: boolean) => ({
  hasRun,
  problem: ["DISK_FULL", message, true],
  changed: 0,
  left: [],
});

/** A command that finds no name for a file ends by itself: all that it made lands, or nothing, and that is said. */
function isWhole(one: { readonly changed: number; readonly problem?: unknown; readonly left: unknown }): boolean {
  const landed = one.changed > 0 && one.problem === undefined;
  return isDeepStrictEqual(one, full(KEPT_NOTHING, true)) || (landed && isDeepStrictEqual(one.left, []));
}

test("a disk of views that is full is said, and nothing lands or is left of the command", async () => {
  if (!isRoot) return; // nobody else can mount there
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-full-view-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const child = startChild("view-full-disk", [base], ["unshare", "-m"]);
  expect(await child.ended).toBe("0");
  expect(JSON.parse(child.lines().at(-1) ?? "")).toEqual({
    "an overlay without blocks": full(KEPT_NOTHING, true),
    "an overlay without names": expect.toSatisfy(isWhole),
    "a copy without blocks": full(KEPT_NOTHING, true),
    "a copy without names": expect.toSatisfy(isWhole),
    "copying without blocks": full(NO_COPY, false),
    "copying without names": full(NO_COPY, false),
    "no room for a view": full("the disk is full, so the command did not run", false),
    // The control: what only removes is no part of anything.
    "what only removes": { hasRun: true, changed: -1, left: [] },
  });
});
