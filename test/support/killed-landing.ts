/** A landing that a killed kernel had begun, as it finds it who comes next. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Change, changesIn } from "../../src/sandbox/landing/changes.ts";
import { writeJournal } from "../../src/sandbox/landing/journal.ts";
import { applyLanding, prepareLanding } from "../../src/sandbox/landing/landing.ts";
import { atOnce } from "../../src/sandbox/plan/workspace-mounts.ts";
import { makeFiles, nextTick } from "./landing-fixture.ts";
import { EVERYTHING } from "./sandbox-place.ts";

const FILES = { gone: "G", over: "O", "d/x": "X", "d/y": "Y", "f/in": "F", "closed/a": "A", keep: "K" };
const FRESH = { "z/y/deep": "Z", over: "new", f: "now a file", n: "N", "d/y": "Y2" };
const REMOVED = ["gone", "closed", "d/x"];

/** Path, rights and content of everything below, but for what waits there. */
export function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => !`${parentPath}/${name}`.includes(".handrail-new-"))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const rights = (statSync(path).mode & 0o777).toString(8);
      return `${path.slice(root.length)} ${rights} ${entry.isFile() ? readFileSync(path, "utf8") : ""}`;
    })
    .sort();
}

/** Where it was killed, and after how many moves; and how its view is called. */
export interface KilledAt {
  /** The view lies on another file system than the workspace. */
  readonly isElsewhere?: boolean;
  readonly moves: number;
  readonly name: string;
  /** Other names of new files, with their contents. */
  readonly fresh?: Readonly<Record<string, string>>;
}

/** A landing of a kernel that is gone: everything is ready and noted, and `moves` of it are done. */
export async function killedLanding({ isElsewhere = false, moves, name, fresh = FRESH }: KilledAt) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "handrail-recovery-"));
  const views = mkdtempSync(join(isElsewhere ? "/dev/shm" : realpathSync(tmpdir()), "handrail-views-"));
  onTestFinished(() => {
    for (const directory of [base, views]) rmSync(directory, { recursive: true, force: true });
  });
  const root = join(base, "workspace");
  makeFiles(root, FILES);
  chmodSync(join(root, "closed"), 0o500);
  const before = treeOf(root);
  const view = join(views, name);
  const upper = join(view, "upper");
  makeFiles(upper, fresh);
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
  const prepared = { ...atOnce(prepareLanding(work, changes)), readyNs: work.nowNs() };
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
