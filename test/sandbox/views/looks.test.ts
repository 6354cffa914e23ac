// Looks at a workspace of very many directories: others have their turn, and what changes meanwhile is seen.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { workspaceTree } from "../../../src/sandbox/host/workspace-tree.ts";
import { atOnce, WorkspaceLook } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { renewedMounts, settledLook } from "../../../src/sandbox/views/looks.ts";
import { EVERYTHING } from "../../support/sandbox-place.ts";
import { watchedTurns } from "../../support/turns.ts";

const NEVER = new AbortController().signal;
const judge = {
  ...EVERYTHING,
  entry: (path: string) => (path.endsWith(".env") ? ("hidden" as const) : ("write" as const)),
};

function manyDirectories(): string {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "handrail-looks-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (let outer = 0; outer < 100; outer += 1)
    for (let inner = 0; inner < 100; inner += 1) mkdirSync(join(root, `d${outer}/e${inner}`), { recursive: true });
  return root;
}

test("mounts are planned in turns, and a secret that moves meanwhile is hidden where it is then", async () => {
  const root = manyDirectories();
  const begin = () => new WorkspaceLook(root, workspaceTree(root), judge);
  const look = await settledLook(begin, undefined, NEVER);
  const { pieces } = await watchedTurns(() => renewedMounts(look, NEVER));
  const { pieces: inOneGo } = await watchedTurns(async () => {
    await nextTurn();
    atOnce(look.renewal());
    atOnce(look.result());
  });
  expect(pieces).toBeLessThan(inOneGo / 2); // the control: in one go it stands for all of it
  const planning = renewedMounts(look, NEVER);
  await nextTurn();
  for (const directory of ["d0/e0", "d50/e50", "d99/e99"]) writeFileSync(join(root, directory, ".env"), "");
  const hidden = (await planning).flatMap(({ kind, target }) => (kind === "hide_file" ? [target] : []));
  expect(hidden.sort()).toEqual(["d0/e0", "d50/e50", "d99/e99"].map((path) => `/workspace/${path}/.env`));
});
