// Two kernels of one state directory that merge at once: one alone lands.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { branchPlace } from "../../../support/branch-place.ts";

test("of two kernels that merge one branch at once one does, and of two branches of one file one lands", async () => {
  const place = await branchPlace();
  const other = await place.another();
  const [first, second] = [await place.session({ branch: "one" }), await place.session({ branch: "two" }, other)];
  await first("write_file", { path: "a.txt", content: "of one\n" });
  await second("write_file", { path: "a.txt", content: "of two\n" });
  const [one, two] = await place.kernel.branches.list();
  if (one === undefined || two === undefined) throw new Error("there are two branches");
  const ended = await Promise.allSettled([
    place.kernel.branches.merge(one, "ann"),
    other.branches.merge(one, "bob"),
    other.branches.merge(two, "bob"),
  ]);
  const landed = ended.map(
    (end) => end.status === "fulfilled" && end.value.kind === "landed" && end.value.landed.notKept.length === 0,
  );
  expect(landed.filter((has) => has)).toHaveLength(1);
  const winner = landed[2] ? "of two\n" : "of one\n";
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe(winner);
  const left = (await place.kernel.branches.list()).map(({ name }) => name);
  expect(left).toEqual([landed[2] ? "one" : "two"]);
});
