/**
 * Replacing several files together: all of them, or none.
 *
 * Every new version is complete beside its file before the first takes its place, and then all take their places in one
 * turn of the thread. INVARIANTS: locks are taken in the order of their keys, so that two calls never wait for each
 * other; what fails before the first file is placed leaves everything as it was; what fails after that is taken back,
 * and where that fails too, the failure says how each file is. A file is never taken back over somebody else's change.
 */
import { type BigIntStats, closeSync } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { FileTransform, WriteReceipt } from "../../model/place/files.ts";
import { removeName } from "../native/syscalls.ts";
import { type HeldLock, withFileLock } from "./lock.ts";
import { changed, quoted, throwIfCancelled, translated } from "./places/failures.ts";
import type { Destination } from "./places/parent.ts";
import { freeDescriptor, type Original, placeNow, syncPlaced, writeBeside } from "./replace.ts";
import {
  destinationOf,
  isSame,
  lockKeyOf,
  lookAt,
  type Plan,
  type Prepared,
  passOnChange,
  pathOf,
  placementOf,
  prepare,
  transformPlan,
  type WriteScope,
} from "./write.ts";

/** One of the files. */
interface Target {
  readonly plan: Plan;
  readonly destination: Destination;
  readonly key: string;
  /** What the file held, to take the change back. */
  before: Uint8Array;
}

/** One whose new version waits beside it. */
interface Ready extends Target {
  readonly lock: HeldLock;
  readonly original: Original;
  readonly prepared: Prepared | undefined;
  /** The new version in its place, once it is there. */
  placed?: BigIntStats;
}

/** Replaces each file by what is made of it. */
export async function transformAll(
  scope: WriteScope,
  files: readonly FileTransform[],
): Promise<readonly WriteReceipt[]> {
  throwIfCancelled(scope.signal);
  const targets: Target[] = [];
  try {
    for (const file of files) targets.push(targetOf(scope, file));
    const sorted = [...targets].sort((one, two) => (one.key < two.key ? -1 : one.key > two.key ? 1 : 0));
    requireDifferent(sorted);
    return await withLocks(scope, sorted, (locks) => changeAll(scope, targets, locks));
  } finally {
    for (const { destination } of targets) closeSync(destination.directory);
  }
}

function targetOf(scope: WriteScope, file: FileTransform): Target {
  try {
    const destination = destinationOf(scope, transformPlan(scope, file)); // existing: no directory is made for it
    const target: Target = {
      plan: transformPlan(scope, {
        ...file,
        transform(original) {
          target.before = original;
          return file.transform(original);
        },
      }),
      destination,
      key: lockKeyOf(destination),
      before: NOTHING,
    };
    return target;
  } catch (error) {
    throw translated(error, file.path);
  }
}

const NOTHING = new Uint8Array();

function requireDifferent(sorted: readonly Target[]): void {
  for (const [index, { key, plan }] of sorted.entries()) {
    const other = sorted[index + 1];
    if (other === undefined || other.key !== key) continue;
    const message = `${quoted(plan.path)} and ${quoted(other.plan.path)} are the same file; nothing was changed`;
    throw new ToolFailure("EDIT_OVERLAP", message, "name each file once, with all its edits");
  }
}

type Locks = ReadonlyMap<string, HeldLock>;

/** Takes the locks of `sorted` one after the other, then does the work. */
async function withLocks<T>(
  scope: WriteScope,
  sorted: readonly Target[],
  work: (locks: Locks) => Promise<T>,
): Promise<T> {
  const held = new Map<string, HeldLock>();
  const take = ([first, ...rest]: readonly Target[]): Promise<T> => {
    if (first === undefined) return work(held);
    return withFileLock(scope, { key: first.key, path: first.plan.path }, (lock) => {
      held.set(first.key, lock);
      return take(rest);
    });
  };
  return take(sorted);
}

async function changeAll(
  scope: WriteScope,
  targets: readonly Target[],
  locks: Locks,
): Promise<readonly WriteReceipt[]> {
  const ready: Ready[] = [];
  let placed = 0;
  try {
    for (const target of targets) ready.push(await readyAt(scope, target, locks));
    placeAll(scope, ready, (count) => {
      placed = count;
    });
    await finishAll(scope, ready);
    return ready.map(({ destination, original, prepared }) => ({
      path: pathOf(scope, destination),
      created: false,
      sizeBytes: prepared?.beside.sizeBytes ?? Number(original.stats.size),
    }));
  } catch (error) {
    if (placed === ready.length && placed > 0) throw error; // all are in place: only the disk did not confirm it
    await takeBack(scope, ready, placed);
    throw error;
  } finally {
    for (const { original } of ready) await freeDescriptor(original.descriptor);
  }
}

async function readyAt(scope: WriteScope, target: Target, locks: Locks): Promise<Ready> {
  const { destination, key, plan } = target;
  const lock = locks.get(key);
  let original: Original | undefined;
  let isReady = false;
  try {
    original = lookAt(destination, plan.path);
    const prepared = await prepare(scope, destination, { ...plan, original });
    if (original === undefined || lock === undefined) throw new Error("a change was prepared for a file that is none");
    isReady = true;
    return { ...target, before: target.before, lock, original, prepared };
  } catch (error) {
    throw translated(error, plan.path);
  } finally {
    if (original !== undefined && !isReady) await freeDescriptor(original.descriptor);
  }
}

/** Puts all in place, in one turn: each is looked at again before the first is placed. */
function placeAll(scope: WriteScope, ready: readonly Ready[], onPlaced: (count: number) => void): void {
  const placements = ready.map((one) => placementOf(scope, one.destination, { ...one.plan, ...one }));
  for (const { check } of placements) check();
  for (const [index, one] of ready.entries()) {
    const placement = placements[index];
    if (one.prepared && placement) placeNow(one.destination, one.prepared.beside, placement);
    onPlaced(index + 1);
    if (one.prepared) one.placed = statsAt(one);
  }
}

function statsAt({ destination, plan }: Ready): BigIntStats {
  const now = lookAt(destination, plan.path);
  if (now === undefined) throw changed(plan.path);
  closeSync(now.descriptor);
  return now.stats;
}

/** Notes what was made, shows it to running commands, and brings the names to disk. */
async function finishAll(scope: WriteScope, ready: readonly Ready[]): Promise<void> {
  for (const { prepared, destination } of ready) {
    if (prepared === undefined) continue;
    await prepared.noted.made();
    await passOnChange(scope.roots, destination);
  }
  for (const { prepared, destination, plan } of ready) if (prepared) await syncPlaced(destination, plan.path);
}

/** Takes back the first `placed`, and removes what waits beside the others. @throws ToolFailure OUTCOME_UNKNOWN */
async function takeBack(scope: WriteScope, ready: readonly Ready[], placed: number): Promise<void> {
  const stay: Ready[] = [];
  for (const [index, one] of ready.entries()) {
    const { prepared, destination } = one;
    if (prepared === undefined) continue;
    if (index >= placed) {
      removeName(destination.directory, prepared.beside.name, "file");
      await prepared.noted.forget();
    } else if (await isTakenBack(scope, one)) await prepared.noted.forget();
    else {
      stay.push(one);
      await prepared.noted.made();
      await passOnChange(scope.roots, destination);
    }
  }
  if (stay.length === 0) return;
  const names = (list: readonly Ready[]) => list.map(({ plan }) => quoted(plan.path)).join(", ");
  const others = ready.filter((one) => !stay.includes(one));
  throw new ToolFailure(
    "OUTCOME_UNKNOWN",
    `the change stopped half-way and could not be taken back: ${names(stay)} changed, ${names(others)} did not`,
    "read these files before you go on; a person can undo the call",
  );
}

/** Gives a file that was placed its old content again. */
async function isTakenBack(scope: WriteScope, one: Ready): Promise<boolean> {
  const { destination, plan, before } = one;
  const { path } = plan;
  let now: Original | undefined;
  try {
    now = lookAt(destination, path);
    if (now === undefined || one.placed === undefined || !isSame(now, { stats: one.placed })) return false;
    const content = { bytes: before };
    const signal = new AbortController().signal; // taking back is not cancelled
    const beside = await writeBeside(destination.directory, { path, original: now, content }, { ...scope, signal });
    const placement = placementOf({ ...scope, signal }, destination, { ...plan, original: now, lock: one.lock });
    placeNow(destination, beside, placement);
    await syncPlaced(destination, path);
    return true;
  } catch {
    return false; // what stays as it is is said in the failure
  } finally {
    if (now) await freeDescriptor(now.descriptor);
  }
}
