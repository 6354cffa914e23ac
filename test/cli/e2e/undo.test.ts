// Undoing by the command line: what people type, what they are shown, and with which exit code it ends; beside a kernel
// that goes on working.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createKernel } from "../../../src/server/doors/library.ts";
import { dataIn, handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

interface Line {
  readonly call: string;
  readonly path: string;
  readonly change: string;
  readonly can_be_undone: boolean;
}

test("history lists what calls changed, undo brings it back, and again; a conflict ends with 1", async () => {
  const place = freshPlace();
  const options = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  await using kernel = await createKernel(options);
  await using session = await kernel.openSession({ workspace: place.workspace });
  const file = place.put("workspace/src/a.txt", "one\n");
  const read = () => readFileSync(file, "utf8");
  await session.call("write_file", { path: "src/a.txt", content: "two\n" });
  await session.call("write_file", { path: "made/b.txt", content: "b\n" });
  const within = ["--workspace", place.workspace];
  const listed = await handrail(place, ["history", "src", ...within, "--json"]);
  const [line, ...more] = dataIn<Line[]>(listed.stdout);
  expect([line?.path, line?.change, line?.can_be_undone, more]).toEqual(["src/a.txt", "modified", true, []]);
  const shown = await handrail(place, ["history", ".", ...within]);
  expect(shown.stdout).toMatch(
    /^TIME .*\n.*created.*made\/b\.txt +until .*\n.*created.*made +until .*\n.*src\/a\.txt +until /,
  );
  const id = line?.call ?? "";
  const dry = await handrail(place, ["undo", id, "--dry-run"]);
  expect([dry.code, dry.stdout, read()]).toEqual([0, "src/a.txt: brought back\n", "two\n"]);
  const undone = await handrail(place, ["undo", id, "--json"]);
  expect([undone.code, read()]).toEqual([0, "one\n"]);
  const { undo } = dataIn<{ undo: string }>(undone.stdout);
  expect([(await handrail(place, ["undo", undo])).code, read()]).toEqual([0, "two\n"]);
  await session.call("write_file", { path: "src/a.txt", content: "three\n" });
  const conflict = await handrail(place, ["undo", id]);
  expect([conflict.code, conflict.stdout, read()]).toEqual([1, "src/a.txt: has changed since that call\n", "three\n"]);
  expect(conflict.stderr).toMatch(/nothing was undone/);
  const unknown = await handrail(place, ["undo", "req_nothing"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    64,
    expect.stringMatching(/nothing is known of a call `req_nothing`/),
  ]);
  const outside = await handrail(place, ["history", join(place.outside, "x"), ...within]);
  expect([outside.code, outside.stderr]).toEqual([64, expect.stringMatching(/lies outside of the workspace/)]);
});
