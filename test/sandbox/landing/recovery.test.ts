// A kernel that is killed while it lands what a command changed: whoever comes next takes back what was done, and keeps
// both sides of what somebody has changed since.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Change, changesIn } from "../../../src/sandbox/landing/changes.ts";
import { writeJournal } from "../../../src/sandbox/landing/journal.ts";
import { applyLanding, prepareLanding } from "../../../src/sandbox/landing/landing.ts";
import { recoverLandings } from "../../../src/sandbox/landing/recovery.ts";
import type { ViewNames } from "../../../src/sandbox/layers/view-directories.ts";
import { atOnce } from "../../../src/sandbox/plan/workspace-mounts.ts";
import { makeFiles, nextTick } from "../../support/landing-fixture.ts";
import { EVERYTHING } from "../../support/sandbox-place.ts";

const ELSEWHERE = "/dev/shm";

const FILES = { gone: "G", over: "O", "d/x": "X", "d/y": "Y", "f/in": "F", "closed/a": "A", keep: "K" };
const FRESH = { "z/y/deep": "Z", over: "new", f: "now a file", n: "N", "d/y": "Y2" };
const REMOVED = ["gone", "closed", "d/x"];

function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => !`${parentPath}/${name}`.includes(".handrail-new-"))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const rights = (statSync(path).mode & 0o777).toString(8);
      return `${path.slice(root.length)} ${rights} ${entry.isFile() ? readFileSync(path, "utf8") : ""}`;
    })
    .sort();
}

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

/** A landing of a kernel that is gone: everything is ready and noted, and `moves` of it are done. */
async function killed(place: string, moves: number) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-recovery-"));
  const views = mkdtempSync(join(place === ELSEWHERE ? ELSEWHERE : realpathSync(tmpdir()), "handrail-views-"));
  onTestFinished(() => {
    for (const directory of [base, views]) rmSync(directory, { recursive: true, force: true });
  });
  const root = join(base, "workspace");
  makeFiles(root, FILES);
  chmodSync(join(root, "closed"), 0o500);
  const before = treeOf(root);
  const view = join(views, `${DEAD}1`);
  const upper = join(view, "upper");
  makeFiles(upper, FRESH);
  const isElsewhere = place === ELSEWHERE;
  const side = isElsewhere ? join(root, ".handrail-new-0123456789012345678901") : join(view, "side");
  mkdirSync(side);
  const removed = REMOVED.map((path): Change => ({ path, kind: "gone", isReplaced: false, isCopy: false }));
  const changes = [...removed, ...atOnce(changesIn({ upper, pathBytesMax: 4000 }))].sort((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const descriptors = [root, upper, side].map((path) => openSync(path, "r"));
  const [rootOpen = -1, upperOpen = -1, sideOpen = -1] = descriptors;
  const work = {
    root: rootOpen,
    upper: upperOpen,
    side: sideOpen,
    isElsewhere,
    judge: EVERYTHING,
    known: () => undefined,
    admit: () => undefined,
    sinceNs: BigInt(Date.now() + 10_000) * 1_000_000n,
    nowNs: nextTick,
  };
  const prepared = atOnce(prepareLanding(work, changes));
  const { dev, ino } = statSync(root, { bigint: true });
  await writeJournal(view, {
    root: { path: root, device: String(dev), inode: String(ino) },
    ...(isElsewhere && { side }),
    locks: [],
    mark: "",
    readyNs: String(prepared.readyNs),
    moves: prepared.ready.map(({ move }) => move),
  });
  const landing = applyLanding(work, prepared);
  let isDone = false;
  for (let done = 0; done < moves && !isDone; done += 1) isDone = landing.next().done === true;
  for (const descriptor of descriptors) closeSync(descriptor);
  return { root, views, view, before, isDone, side };
}

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
