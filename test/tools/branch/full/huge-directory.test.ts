// A branch of a workspace with 200,000 files in one directory: it is made, compared and merged, and no turn of the
// thread takes long while it is compared and merged.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { branchPlace } from "../../../support/branch-place.ts";

const FILES = 200_000;
/**
 * Milliseconds of the processor that one turn may take, so that a busy machine does not count: it is less than half of
 * this, and reading the directory at once takes more.
 */
const TURN_MS_MAX = 200;

/** Does `work` beside a look at every turn. @returns what came of it, and the longest turn */
async function watched<Result>(work: () => Promise<Result>): Promise<{ result: Result; turnMs: number }> {
  let isDone = false;
  let turnMs = 0;
  const watching = (async () => {
    for (let last = process.threadCpuUsage(); !isDone; ) {
      await nextTurn();
      const now = process.threadCpuUsage();
      turnMs = Math.max(turnMs, (now.user + now.system - last.user - last.system) / 1000);
      last = now;
    }
  })();
  try {
    return { result: await work(), turnMs };
  } finally {
    isDone = true;
    await watching;
  }
}

test("a branch with a huge directory is made, and compared and merged with turns for others", async () => {
  const place = await branchPlace();
  const wide = join(place.workspace, "wide");
  mkdirSync(wide);
  const name = (index: number) => `file-with-a-long-enough-name-${String(index).padStart(6, "0")}.txt`;
  for (let index = 0; index < FILES; index += 1) writeFileSync(join(wide, name(index)), "");
  const call = await place.session();
  const turns: Record<string, number> = {};
  const step = async (tool: string, args: Record<string, string>) => {
    const { result, turnMs } = await watched(() => call(tool, args));
    turns[tool] = Math.max(turns[tool] ?? 0, Math.round(turnMs));
    return result;
  };
  expect(await call("create_branch", { name: "huge" })).toMatchObject({ kind: "success" });
  const changed = join("wide", name(123_456));
  expect((await call("write_file", { path: changed, content: "changed\n" })).kind).toBe("success");
  const { data } = await step("branch_diff", { name: "huge" });
  expect(data["files"]).toMatchObject([{ path: changed, change: "modify" }]);
  expect(await step("merge_branch", { name: "huge" })).toMatchObject({ kind: "success", data: { changed: 1 } });
  expect(readFileSync(join(place.workspace, changed), "utf8")).toBe("changed\n");
  expect(existsSync(join(wide, name(FILES - 1)))).toBe(true);
  expect(Object.entries(turns).filter(([, turnMs]) => turnMs > TURN_MS_MAX)).toEqual([]);
}, 600_000);
