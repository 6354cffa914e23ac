// What a command moves or changes in a directory in which others write and remove meanwhile: a move lands, and what
// somebody removed does not come back.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { awaiting, remove, runMeanwhile, save, told } from "../../support/meanwhile.ts";
import { newSandboxPlace, type SandboxPlace } from "../../support/sandbox-place.ts";

let place: SandboxPlace;
let root: string;
beforeEach(() => {
  place = newSandboxPlace();
  ({ root } = place);
  save(root, "d/a", "A\n");
  save(root, "d/kept", "K\n");
  save(root, "other/x", "X\n");
});
afterEach(async () => {
  await place.sandbox.endRuns();
  place.close();
});

const textOf = (path: string) => readFileSync(join(root, path), "utf8");

test.each([
  ["in its directory, and written after", `mv d/a d/b; ${awaiting("go")}; true`, "d/b"],
  ["in its directory, and written before", `ls d; ${awaiting("go")}; mv d/a d/b`, "d/b"],
  ["into another directory", `ls d; ${awaiting("go")}; mv d/a other/b`, "other/b"],
])("a file that is moved %s, lands beside what a call writes there meanwhile", async (_, command, moved) => {
  const go = () => told(root, [...save(root, "d/new", "new\n"), ...save(root, "other/new", "new\n")]);
  const { end } = await runMeanwhile(place, command, { go });
  expect(end.landed).toMatchObject({ created: 1, removed: 1, notKept: [] });
  expect([textOf(moved), existsSync(join(root, "d/a")), textOf("d/new"), textOf("other/new")]).toEqual([
    "A\n",
    false,
    "new\n",
    "new\n",
  ]);
});

test.each([
  ["and nothing else", ""],
  ["and removes another one", "rm d/kept; "],
])("a file that somebody removes while a command changes its rights, %s, stays away", async (_, also) => {
  const { end } = await runMeanwhile(place, `${also}chmod 700 d/a; ${awaiting("go")}; true`, {
    go: () => remove(root, "d/a"), // by a person: nobody is told
  });
  expect(end.landed?.notKept).toContainEqual({ path: "d/a", reason: "changed_meanwhile" });
  expect(readdirSync(join(root, "d"))).not.toContain("a");
});

test("a file that was moved and written does not land where somebody may have removed the one there", async () => {
  const { end } = await runMeanwhile(place, `mv d/a d/b; echo more >>d/b; ${awaiting("go")}; true`, {
    go: () => told(root, save(root, "d/new", "new\n")),
  });
  expect(end.landed?.notKept).toEqual([
    { path: "d/a", reason: "held_back" },
    { path: "d/b", reason: "changed_meanwhile" },
  ]);
  expect([textOf("d/a"), existsSync(join(root, "d/b"))]).toEqual(["A\n", false]);
});
