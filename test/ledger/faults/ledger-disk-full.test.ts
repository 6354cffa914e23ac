/** The disk under the ledger is full: a real, small file system, in a mount namespace of its own. */
import { geteuid } from "node:process";
import { expect, test } from "vitest";
import { startChild } from "../../support/children/run.ts";
import { freshDirectory } from "../../support/store-place.ts";

test("a full disk refuses entries, loses none that was acknowledged, and takes entries again once there is room", async () => {
  const privately = geteuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
  const child = startChild("fill-disk", [await freshDirectory()], privately);
  expect(await child.ended).toBe("0");
  const facts = JSON.parse(child.lines()[0] ?? "");
  expect(facts).toEqual({
    before: facts.before,
    after: 20,
    refusals: ["LEDGER_UNAVAILABLE"],
    unhealthy: { writable: false, problem: expect.stringContaining("make room on its disk"), waiting: 0 },
    healthy: { writable: true, waiting: 0 },
    report: { ok: true, entries: facts.before + 20, pruned: 0, problems: [], truncated: false },
    lost: 0,
  });
  expect(facts.before).toBeGreaterThan(10);
});
