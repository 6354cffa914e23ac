/** What a command's answer says besides its output has room beside it, however many names there are. */
import { expect, test } from "vitest";
import type { ExecLanded } from "../../../src/model/work/exec.ts";
import { execData } from "../../../src/model/work/exec-data.ts";

function landed(paths: readonly string[]): ExecLanded {
  return { created: 0, changed: 0, removed: 0, notKept: paths.map((path) => ({ path, reason: "not_allowed" })) };
}

test("a hundred names are shown, and a hundred and one are counted", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);
  expect(execData({ landed: landed(names(100)) })["not_kept"]).toHaveLength(100);
  expect(execData({ landed: landed(names(100)) })).not.toHaveProperty("not_kept_count");
  const { not_kept: shown, not_kept_count: count } = execData({ landed: landed(names(101)) });
  expect([(shown as readonly unknown[]).length, count]).toEqual([100, 101]);
});

test("long names are shown as far as there is room, in order, and all are counted", () => {
  const long = ["a", "b", "c", "d", "e", "f"].map((letter) => letter.repeat(4000));
  const { not_kept: shown, not_kept_count: count } = execData({ landed: landed(long) });
  expect([(shown as { path: string }[]).map(({ path }) => path[0]), count]).toEqual([["a", "b", "c", "d", "e"], 6]);
  expect(execData({ hiddenRepositories: long })["hidden_repositories"]).toEqual(long.slice(0, 5));
});
