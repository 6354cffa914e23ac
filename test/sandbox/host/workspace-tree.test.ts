// By what it is known that a directory is as it was.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workspaceTree } from "../../../src/sandbox/host/workspace-tree.ts";
import { comesTrue } from "../../support/waiting.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "handrail-tree-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** So long that a change is told from the one before it. */
function aTick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60));
}

const CHANGES: Readonly<Record<string, () => void>> = {
  "a file that is made": () => writeFileSync(join(root, "d/new"), ""),
  "a file that is removed": () => rmSync(join(root, "d/file")),
  "a file that takes another's place": () => renameSync(join(root, "d/other"), join(root, "d/file")),
  "a file that becomes a link": () => {
    rmSync(join(root, "d/file"));
    symlinkSync("other", join(root, "d/file"));
  },
  "another directory in its place": () => {
    renameSync(join(root, "d"), join(root, "gone"));
    renameSync(join(root, "e"), join(root, "d"));
  },
  "a link in its place": () => {
    renameSync(join(root, "d"), join(root, "gone"));
    symlinkSync("gone", join(root, "d"));
  },
  "that it is gone": () => rmSync(join(root, "d"), { recursive: true }),
};

test.each(Object.entries(CHANGES))("%s gives a directory another stamp", async (_what, change) => {
  mkdirSync(join(root, "d/deeper"), { recursive: true });
  mkdirSync(join(root, "e"));
  for (const name of ["file", "other"]) writeFileSync(join(root, "d", name), "");
  const { stamp } = workspaceTree(root);
  // what was changed a moment ago could change again unseen; a busy machine may look too late
  await comesTrue(() => {
    writeFileSync(join(root, "d/file"), "");
    renameSync(join(root, "d/file"), join(root, "d/renamed"));
    renameSync(join(root, "d/renamed"), join(root, "d/file"));
    return stamp("d") === undefined;
  });
  await aTick();
  const before = stamp("d");
  expect([typeof before, stamp("d")]).toEqual(["string", before]);
  // not its own, what happens below it
  writeFileSync(join(root, "d/deeper/x"), "");
  writeFileSync(join(root, "d/file"), "more");
  expect(stamp("d")).toBe(before);
  change();
  expect(stamp("d")).not.toBe(before);
  await aTick();
  expect(stamp("d")).not.toBe(before);
});
