// A landing that could not be taken back: a person sees what of it has landed, does the rest, or drops what is kept.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  continueLanding,
  dropLanding,
  type InterruptedLanding,
  interruptedLandings,
} from "../../../../src/sandbox/landing/recovery/interrupted.ts";
import { recoverLandings } from "../../../../src/sandbox/landing/recovery/recovery.ts";
import type { ViewNames } from "../../../../src/sandbox/layers/view-directories.ts";
import { killedLanding, treeOf } from "../../../support/killed-landing.ts";
import { nextTick } from "../../../support/landing-fixture.ts";

const names: ViewNames = { next: () => "own-1", instanceOf: () => "dead", isAlive: async () => false };
const unexpected = (error: unknown) => {
  throw error;
};
const unread = (path: string, error: unknown) => {
  throw new Error(path, { cause: error });
};

/** A landing of which `moves` were made, and of which somebody has changed what `change` does since. */
async function interrupted(moves: number, change: (root: string) => void, isElsewhere = false) {
  const place = await killedLanding({ isElsewhere, moves, name: "dead-1" });
  nextTick();
  change(place.root);
  const [recovered] = await recoverLandings(place.views, names, unexpected);
  expect(recovered?.kept).toBeDefined();
  const [landing] = interruptedLandings(place.views, unread);
  if (landing === undefined) throw new Error("nothing is kept");
  return { ...place, landing };
}

const inState = ({ moves }: InterruptedLanding, state: string) =>
  moves.filter((one) => one.state === state).map(({ path }) => path);

/** What somebody has made where the landing was to put something: the first of its moves is done by then. */
const inTheWay = (root: string) => writeFileSync(join(root, "n"), "P");

test("what waits is done, what somebody has changed is left, and what stood there is kept", async () => {
  const { root, views, landing } = await interrupted(3, (workspace) => appendFileSync(join(workspace, "gone"), "P"));
  expect(landing.root).toBe(root);
  expect([inState(landing, "landed"), inState(landing, "changed")]).toEqual([["n", "z", "d/y"], ["gone"]]);
  const waiting = inState(landing, "waiting");
  expect(waiting).toEqual(["over", "f/in", "f", "closed/a", "closed", "d/x"]);

  expect(continueLanding(landing)).toEqual({ landed: waiting, left: ["gone"] });
  const text = (path: string) => readFileSync(join(root, path), "utf8");
  expect(["over", "f", "z/y/deep", "d/y", "n", "gone"].map(text)).toEqual(["new", "now a file", "Z", "Y2", "N", "GP"]);
  expect(["closed", "d/x"].map((path) => existsSync(join(root, path)))).toEqual([false, false]);
  const kept = treeOf(landing.path).map((line) => line.split(" ").at(-1));
  expect(kept).toEqual(expect.arrayContaining(["O", "X", "F", "A", "Y"]));
  // Again it does nothing.
  const [again] = interruptedLandings(views, unread);
  expect(again && [inState(again, "waiting"), inState(again, "changed")]).toEqual([[], ["gone"]]);
  expect(again && continueLanding(again)).toEqual({ landed: [], left: ["gone"] });
});

test("a directory that somebody has put something into is not taken", async () => {
  const { root, landing } = await interrupted(0, (workspace) => {
    inTheWay(workspace);
    writeFileSync(join(workspace, "f/person"), "P");
  });
  expect(inState(landing, "changed")).toEqual(expect.arrayContaining(["f", "n"]));
  continueLanding(landing);
  expect(readFileSync(join(root, "f/person"), "utf8")).toBe("P");
});

test("dropping removes what is kept and leaves the workspace", async () => {
  const { root, views, landing } = await interrupted(3, inTheWay);
  const before = treeOf(root);
  await dropLanding(landing);
  expect([existsSync(landing.path), interruptedLandings(views, unread), treeOf(root)]).toEqual([false, [], before]);
});

test("nothing is done where another program holds a lock, the workspace is gone, or the view lies elsewhere", async () => {
  const gone = await interrupted(3, inTheWay);
  const elsewhere = await interrupted(3, inTheWay, true);
  expect(elsewhere.landing.closed).toBe("elsewhere");
  const before = treeOf(elsewhere.root);
  expect(() => continueLanding(elsewhere.landing)).toThrow(/cannot be done/);
  expect(treeOf(elsewhere.root)).toEqual(before);
  const journal = join(gone.landing.path, "landing.json");
  const [head = "", ...rest] = readFileSync(journal, "utf8").split("\n");
  const locked = { ...(JSON.parse(head) as object), locks: ["d/index.lock"], mark: "this landing" };
  writeFileSync(journal, [JSON.stringify(locked), ...rest].join("\n"));
  writeFileSync(join(gone.root, "d/index.lock"), "somebody");
  const stands = treeOf(gone.root);
  expect(continueLanding(gone.landing)).toEqual({ landed: [], left: [], isLocked: true });
  expect(treeOf(gone.root)).toEqual(stands);
  const moved = { ...locked, root: { ...(locked as { root?: object }).root, inode: "1" } };
  writeFileSync(journal, [JSON.stringify(moved), ...rest].join("\n"));
  expect(interruptedLandings(gone.views, unread)[0]?.closed).toBe("gone");
});

test("one whose journal cannot be read is named, and the others are shown", async () => {
  const { views, landing } = await interrupted(3, inTheWay);
  mkdirSync(join(views, "interrupted-bad"));
  const reported: string[] = [];
  expect(interruptedLandings(views, (path) => reported.push(path)).map(({ name }) => name)).toEqual([landing.name]);
  expect(reported).toEqual([join(views, "interrupted-bad")]);
});
