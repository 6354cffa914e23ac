// A branch of a workspace with 200,000 files in one directory: it is made, compared and merged, and no turn of the
// thread takes long while it is compared and merged.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../../support/branch-place.ts";
import { watchedTurns } from "../../../support/turns.ts";

const FILES = 200_000;
/**
 * Pieces of work that one turn may take: half as much again as a merge takes for the names of the directory. Looking at
 * each file in the same turn takes 190 more.
 */
const TURN_PIECES_MAX = 90;

test("a branch with a huge directory is made, and compared and merged with turns for others", async () => {
  const place = await branchPlace();
  const wide = join(place.workspace, "wide");
  mkdirSync(wide);
  const name = (index: number) => `file-with-a-long-enough-name-${String(index).padStart(6, "0")}.txt`;
  for (let index = 0; index < FILES; index += 1) writeFileSync(join(wide, name(index)), "");
  const call = await place.session();
  const turns: Record<string, number> = {};
  const step = async (tool: string, args: Record<string, string>) => {
    const { result, pieces } = await watchedTurns(() => call(tool, args));
    turns[tool] = Math.max(turns[tool] ?? 0, pieces);
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
  expect(Object.entries(turns).filter(([, pieces]) => pieces > TURN_PIECES_MAX)).toEqual([]);
}, 600_000);
