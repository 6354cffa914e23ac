// A command that fills the disk on which everybody works: what it wrote does not land where that would leave too little
// for the others, and what fits lands.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "../../../support/children/run.ts";

const isRoot = process.geteuid?.() === 0;
/** A twentieth of the disk of 64 MiB. */
/** A twentieth of 4000. */
const NAMES_RESERVED = 200;
const RESERVE_BYTES = (64 * 1024 * 1024) / 20;
const ENDED =
  "the command was ended: it wrote so much that too little was free on the disk of views; nothing it changed was kept";

test("a landing leaves a reserve free for everybody else, and who takes it meanwhile is ended", async () => {
  if (!isRoot) return; // nobody else can mount there
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-reserve-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  chmodSync(base, 0o755);
  mkdirSync(join(base, "disk"));
  const child = startChild("landing-reserve", [base], ["unshare", "-m"]);
  expect(await child.ended).toBe("0");
  const { attempts, running, names } = JSON.parse(child.lines().at(-1) ?? "");
  const why =
    "less than 4 MiB would be free on the disk, which others need, so nothing of what the command changed was kept";
  expect(attempts).toMatchObject([
    { names: ["most", "gone"] }, // the boundary: 60 of 67 million bytes may be taken
    { problem: ["DISK_FULL", why, true], names: ["most", "gone"] },
    { names: ["most"] },
    { names: ["most", "small"] },
  ]);
  expect(attempts.map(({ problem }: { readonly problem?: unknown }) => problem === undefined)).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(running).toMatchObject({ endedBy: "cancelled", problem: ["DISK_FULL", ENDED, true], wentOn: true });
  expect(names).toMatchObject({ many: { endedBy: "cancelled", problem: "DISK_FULL" }, some: "landed" });
  expect(names.ffree).toBeGreaterThan(NAMES_RESERVED);
  for (const { freeBytes } of attempts) expect(freeBytes).toBeGreaterThan(RESERVE_BYTES);
});
