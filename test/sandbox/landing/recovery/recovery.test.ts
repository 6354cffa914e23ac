// A kernel that is killed while it lands what a command changed: whoever comes next takes back what was done, and keeps
// both sides of what somebody has changed since.
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recoverLandings } from "../../../../src/sandbox/landing/recovery/recovery.ts";
import type { ViewNames } from "../../../../src/sandbox/layers/view-directories.ts";
import { startChild } from "../../../support/children/run.ts";
import { killedLanding, treeOf } from "../../../support/killed-landing.ts";
import { nextTick } from "../../../support/landing-fixture.ts";

const ELSEWHERE = "/dev/shm";

const DEAD = "dead-";
let claimed = 0;
/** Names of a kernel that takes all others for dead whose names begin so. */
const names: ViewNames = {
  next() {
    claimed += 1;
    return `own-${claimed}`;
  },
  instanceOf: (name) => (name.startsWith(DEAD) ? "dead" : "living"),
  isAlive: async (instanceId) => instanceId === "living",
};

const killed = (place: string, moves: number) =>
  killedLanding({ isElsewhere: place === ELSEWHERE, moves, name: `${DEAD}1` });

const unexpected = (error: unknown) => {
  throw error;
};

test.each(["beside the workspace", ELSEWHERE])(
  "of a landing from %s that was killed at any step nothing is left",
  async (place) => {
    let states = 0;
    for (let moves = 0; ; moves += 1) {
      const { root, views, before, isDone, side } = await killed(place, moves);
      if (treeOf(root).join() !== before.join()) states += 1;
      expect(await recoverLandings(views, names, unexpected)).toEqual([{ root, left: [] }]);
      expect(treeOf(root)).toEqual(before);
      expect([readdirSync(views), existsSync(side)]).toEqual([[], false]);
      if (isDone) break;
    }
    expect(states).toBeGreaterThan(6);
  },
);

test("whoever takes it back may be killed at any step, too, and the next one takes back the rest", async () => {
  let kills = 0;
  for (let change = 1; ; change += 1) {
    const { root, views, before } = await killed("beside the workspace", 100);
    expect(treeOf(root)).not.toEqual(before);
    const child = startChild("recover-until-killed", [views, String(change)]);
    const isKilled = (await child.ended) === "SIGKILL";
    if (isKilled) kills += 1;
    for (const { left } of await recoverLandings(views, names, unexpected)) expect(left).toEqual([]);
    expect(treeOf(root)).toEqual(before);
    if (!isKilled) break;
  }
  expect(kills).toBeGreaterThan(10);
});

test.each(["beside the workspace", ELSEWHERE])(
  "what somebody changed after the kill stays, and both sides are kept (from %s)",
  async (place) => {
    const { root, views } = await killed(place, 100);
    const at = (path: string) => join(root, path);
    writeFileSync(at("person"), "P");
    renameSync(at("person"), at("over")); // saved as editors do
    writeFileSync(at("gone"), "made anew");
    const [recovered] = await recoverLandings(views, names, unexpected);
    expect(recovered).toMatchObject({ root, left: expect.arrayContaining(["over", "gone"]) });
    expect(recovered?.left).toHaveLength(2);
    // taking back the rest would break what somebody has gone on with
    const contents = (path: string) => readFileSync(at(path), "utf8");
    expect(["over", "gone", "n", "f", "z/y/deep"].map(contents)).toEqual(["P", "made anew", "N", "now a file", "Z"]);
    const kept = treeOf(recovered?.kept ?? "").map((line) => line.split(" ").at(-1));
    expect(kept).toEqual(expect.arrayContaining(["O", "G", "X", "F", "A"]));
    // Nobody takes it for something to be taken back, or removed, again.
    expect(await recoverLandings(views, names, unexpected)).toEqual([]);
    expect(existsSync(recovered?.kept ?? "")).toBe(true);
  },
);

test.each<[string, (at: (path: string) => string) => void, string, string]>([
  ["a file in place", (at) => appendFileSync(at("over"), "P"), "over", "newP"],
  ["a new file in a directory that landed", (at) => writeFileSync(at("z/y/person"), "P"), "z/y/person", "P"],
  ["a file of a directory that landed", (at) => appendFileSync(at("z/y/deep"), "P"), "z/y/deep", "ZP"],
])("somebody has written %s since: it stays", async (_, write, path, content) => {
  const { root, views } = await killed("beside", 100);
  nextTick();
  write((name) => join(root, name));
  const [recovered] = await recoverLandings(views, names, unexpected);
  expect(recovered?.left).toEqual([path.split("/")[0]]);
  expect(readFileSync(join(root, path), "utf8")).toBe(content);
  expect([existsSync(join(root, "n")), existsSync(join(root, "gone"))]).toEqual([true, false]);
});

test("a journal that was cut short is none, one that cannot be read is said to be so, and living kernels' are left alone", async () => {
  const { root, views, view, before } = await killed("beside", 0);
  const journal = readFileSync(join(view, "landing.json"), "utf8");
  writeFileSync(join(view, "landing.json"), journal.slice(0, -1));
  expect(await recoverLandings(views, names, unexpected)).toEqual([]);
  expect([treeOf(root), readdirSync(views)]).toEqual([before, []]);
  const second = await killed("beside", 100);
  const living = join(second.views, "living-1");
  renameSync(second.view, living);
  expect(await recoverLandings(second.views, names, unexpected)).toEqual([]);
  expect(existsSync(living)).toBe(true);
  const third = await killed("beside", 100);
  writeFileSync(join(third.view, "landing.json"), `{"root":1}\nend`);
  const reported: unknown[] = [];
  expect(await recoverLandings(third.views, names, (error) => reported.push(error))).toEqual([]);
  expect([reported.length, readdirSync(third.views).length]).toEqual([1, 1]);
});
