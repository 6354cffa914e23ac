/**
 * Writing a file: under its lock, into a new file beside it, which then takes its place in one step.
 *
 * Decides: which file is replaced, whether it may be, and what stands in it afterwards. INVARIANTS: readers see the old
 * content or the new one, never a part; a failure or cancellation before the rename leaves the old file as it was and
 * nothing beside it; a file with a second name (hard link) is never written; a file that somebody else changed since it
 * was looked at is never overwritten; mode and owner are kept, set-id bits are not.
 */
import { accessSync, closeSync, constants, fstatSync } from "node:fs";
import { blake3Hex } from "../../base/hash.ts";
import { MAX_READ_LIMIT } from "../../base/limits.ts";
import { type Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { FileTransform, WriteOptions, WriteReceipt } from "../../model/place/files.ts";
import type { NotedChanges } from "../../model/work/file-history.ts";
import { passOn } from "../mirror/running-views.ts";
import { errno, errorName, O_PATH, openBeneath, removeName } from "../native/syscalls.ts";
import { type HeldLock, type LockScope, withFileLock } from "./lock.ts";
import type { NewFiles } from "./new-files.ts";
import { type FileReplaced, type NotingScope, noteChange } from "./noted-change.ts";
import { missingReserve } from "./places/disk-reserve.ts";
import { changed, failureOf, notAFile, quoted, refusal, throwIfCancelled, translated } from "./places/failures.ts";
import { type FileEffect, type FileScope, find, kindOf } from "./places/open.ts";
import { type Destination, openDestination, removeMade, requireInPlace } from "./places/parent.ts";
import { handleOf, namedPath } from "./places/roots.ts";
import { contentDigest } from "./pre-image.ts";
import { openForReading, readInSteps } from "./read.ts";
import {
  type Beside,
  type Content,
  freeDescriptor,
  type NewVersion,
  type Original,
  type Placement,
  putInPlace,
  writeBeside,
} from "./replace.ts";

/** What writing needs of the call. */
export type WriteScope = FileScope &
  LockScope &
  ApprovedTargets &
  Pick<NotingScope, "keeping"> & { readonly newFiles: NewFiles };

/** Where a person approved a change, it is made to the very file that they approved it for. */
export interface ApprovedTargets {
  /**
   * Looks at the file under its lock, before it is changed; throws when it is another one than was approved.
   * @param content gives its digest, or `undefined` when there is no file
   */
  readonly requireApproved?: (
    path: string,
    place: WorkspacePath,
    content: () => Promise<string | undefined>,
  ) => Promise<void>;
}

/** What a kind of write does to a path. */
export interface Plan {
  readonly path: string;
  readonly effects: readonly FileEffect[];
  readonly whenMissing: "create" | "fail";
  readonly whenPresent: "replace" | "fail";
  /** The new content for the file as it stands; `undefined` means there is nothing to change. */
  readonly content: (original: Original | undefined) => Content | undefined | Promise<Content | undefined>;
}

/** Writes `content` in the way that `mode` says; missing parent directories are made. */
export function writeContained(
  scope: WriteScope,
  path: string,
  { content, mode }: WriteOptions & { readonly content: Uint8Array },
): Promise<WriteReceipt> {
  return change(scope, {
    path,
    effects: ["write"],
    whenMissing: "create",
    whenPresent: mode === "create_only" ? "fail" : "replace",
    content: (original) =>
      mode === "append" && original
        ? { before: requireSize(original, MAX_READ_LIMIT, path), bytes: content }
        : { bytes: content },
  });
}

/**
 * Replaces an existing file by what `transform` makes of it; nothing changes when it throws or returns the same bytes.
 */
export function transformContained(
  scope: WriteScope,
  path: string,
  { bytesMax, transform }: { bytesMax: number; transform: (original: Uint8Array) => Uint8Array | Promise<Uint8Array> },
): Promise<WriteReceipt> {
  return change(scope, transformPlan(scope, { path, bytesMax, transform }));
}

/** What replaces a file by what is made of it. */
export function transformPlan(scope: WriteScope, { path, bytesMax, transform }: FileTransform): Plan {
  return {
    path,
    effects: ["read", "write"],
    whenMissing: "fail",
    whenPresent: "replace",
    async content(original) {
      if (original === undefined) throw failureOf("ENOENT", path);
      const before = await readWhole(requireSize(original, bytesMax, path), path, scope.signal);
      const made = transform(before);
      const after = made instanceof Promise ? await made : made;
      return Buffer.compare(before, after) === 0 ? undefined : { bytes: after };
    },
  };
}

async function change(scope: WriteScope, plan: Plan): Promise<WriteReceipt> {
  throwIfCancelled(scope.signal);
  const { path } = plan;
  let destination: Destination | undefined;
  let done = false;
  try {
    destination = destinationOf(scope, plan);
    const target = destination;
    const receipt = await withFileLock(scope, { key: lockKeyOf(target), path }, (lock) =>
      changeLocked(scope, target, { ...plan, lock }),
    );
    done = true;
    return receipt;
  } catch (error) {
    throw translated(error, path);
  } finally {
    if (destination) {
      closeSync(destination.directory);
      if (!done) removeMade(scope.roots, destination);
    }
  }
}

/** Names the lock of a file, whatever path leads to it; the store need not know what the file is called. */
export function lockKeyOf({ directory, name }: Pick<Destination, "directory" | "name">): string {
  const { dev, ino } = fstatSync(directory, { bigint: true });
  return `file:${dev}:${ino}/${blake3Hex(name)}`;
}

/** Where the write goes: links followed, judged, parent directory opened. */
export function destinationOf(scope: WriteScope, plan: Plan): Destination {
  const { path } = plan;
  const found = find(scope, path, plan.effects);
  if (found.kind === "found") {
    closeSync(found.descriptor);
    if (plan.whenPresent === "fail") throw failureOf("EEXIST", path);
    if (!found.stats.isFile()) throw notAFile(path, kindOf(found.stats));
  } else if (plan.whenMissing === "fail") {
    throw failureOf("ENOENT", path);
  }
  return openDestination(scope.roots, found.place, path);
}

async function changeLocked(
  scope: WriteScope,
  destination: Destination,
  plan: Plan & { readonly lock: HeldLock },
): Promise<WriteReceipt> {
  const { path } = plan;
  const original = lookAt(destination, path);
  let freed: Promise<void> | undefined;
  try {
    const prepared = await prepare(scope, destination, { ...plan, original });
    const written = { path: pathOf(scope, destination), created: original === undefined };
    if (prepared === undefined) return { ...written, sizeBytes: Number(original?.stats.size ?? 0) };
    const { beside, noted } = prepared;
    let isPlaced = false;
    try {
      await putInPlace(destination, beside, {
        ...placementOf(scope, destination, { ...plan, original }),
        onPlaced() {
          isPlaced = true;
          freed = original && freeDescriptor(original.descriptor);
        },
      });
    } finally {
      await (isPlaced ? noted.made() : noted.forget());
      if (isPlaced) await passOnChange(scope.roots, destination);
    }
    return { ...written, sizeBytes: beside.sizeBytes };
  } finally {
    if (original) await (freed ?? freeDescriptor(original.descriptor));
  }
}

/** A new version that is complete beside its file, and noted. */
export interface Prepared {
  readonly beside: Beside;
  readonly noted: NotedChanges;
}

/** A plan for what was found at its destination. */
type FoundPlan = Plan & Pick<NewVersion, "original">;

/** Makes the new version beside the file, whose lock the call holds; `undefined` where nothing is to change. */
export async function prepare(
  scope: WriteScope,
  destination: Destination,
  plan: FoundPlan,
): Promise<Prepared | undefined> {
  const { path, original } = plan;
  if (original === undefined && plan.whenMissing === "fail") throw failureOf("ENOENT", path);
  if (original !== undefined && plan.whenPresent === "fail") throw failureOf("EEXIST", path);
  if (original) requireWritable(original, path);
  await requireTarget(scope, destination, { path, original });
  const content = await plan.content(original);
  if (content === undefined) return undefined;
  requireReserve(destination, { path, original, content });
  const beside = await writeBeside(destination.directory, { path, original, content }, scope);
  return { beside, noted: await notedBeside(scope, destination, { path, original, beside }) };
}

/** How the new version takes its place: only where all is as it was when the call looked. */
export function placementOf(
  scope: WriteScope,
  destination: Destination,
  { path, original, lock, whenPresent }: FoundPlan & { readonly lock: HeldLock },
): Placement {
  const taken = () => (whenPresent === "fail" ? failureOf("EEXIST", path) : changed(path));
  return {
    path,
    replace: original !== undefined,
    taken,
    check() {
      throwIfCancelled(scope.signal);
      if (!lock.isFresh()) throw tooSlow(path);
      requireInPlace(scope.roots, destination, path);
      requireUnchanged(destination, { path, original }, taken);
    },
  };
}

/**
 * Keeps a file that is new or becomes larger from taking what others need of the disk. The new version has a name
 * already, and the old one gives its own back.
 */
function requireReserve({ directory }: Destination, { path, original, content: { before, bytes } }: NewVersion): void {
  const grownBytes = Number(before?.stats.size ?? 0) + bytes.byteLength - Number(original?.stats.size ?? 0);
  const missing =
    grownBytes > 0 || original === undefined
      ? missingReserve(`/proc/self/fd/${directory}`, { bytes: Math.max(0, grownBytes), names: original ? -1 : 0 })
      : undefined;
  if (missing === undefined) return;
  const message = `less than ${missing.size} would be free on the disk of ${quoted(path)}, which others need`;
  throw new ToolFailure(
    "DISK_FULL",
    `${message}; nothing was written`,
    "delete what is not needed any more, or ask a person to free some space",
  );
}

/** Shows the change to the commands that run there. */
export async function passOnChange(
  roots: WriteScope["roots"],
  { place, made }: Pick<Destination, "place" | "made">,
): Promise<void> {
  await passOn(handleOf(roots, place.root).path || "/", [...made, place.path]);
}

/** Notes the change; the new file goes where that is not possible. */
async function notedBeside(
  scope: WriteScope,
  destination: Destination,
  replaced: FileReplaced & { readonly beside: Beside },
): Promise<NotedChanges> {
  let isNoted = false;
  try {
    const noted = await noteChange(scope, destination, replaced);
    isNoted = true;
    return noted;
  } finally {
    if (!isNoted) removeName(destination.directory, replaced.beside.name, "file");
  }
}

/** The file at the destination now; it must be one that may be replaced. The caller closes its descriptor. */
export function lookAt(destination: Destination, path: string): Original | undefined {
  const descriptor = openBeneath(destination.directory, destination.name, O_PATH | constants.O_NOFOLLOW, "plain");
  if (descriptor === -errno.ENOENT) return undefined;
  if (descriptor < 0) throw failureOf(errorName(descriptor), path);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (stats.isSymbolicLink()) throw changed(path); // it was none when its place was judged
    if (!stats.isFile()) throw notAFile(path, kindOf(stats));
    if (stats.nlink > 1n) throw hardLink(destination, path);
    return { descriptor, stats };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** What a path named when it was looked at. */
type Seen = Pick<NewVersion, "path" | "original">;

/**
 * Fails when a person approved the change of a file that was another one. What comes after sees to it that it stays
 * this one.
 */
export async function requireTarget(
  scope: WriteScope,
  { place }: Destination,
  { path, original }: Seen,
): Promise<void> {
  if (scope.requireApproved === undefined) return;
  await scope.requireApproved(
    path,
    place,
    async () =>
      original && contentDigest({ descriptor: original.descriptor, path }, Number(original.stats.size), scope.signal),
  );
}

function hardLink({ place }: Destination, path: string): Refusal {
  const message = `${quoted(path)} has more than one name (a hard link), so writing it could change a file elsewhere; ask a person to break the link`;
  const fix = "replace the hard link by a copy of the file";
  return refusal({
    reason: "workspace_hard_link",
    ruleId: "WORKSPACE:hard_link",
    message,
    fix,
    targetPath: place.path,
  });
}

/** Replacing a file needs no permission on the file itself; a file closed to writing is respected all the same. */
export function requireWritable(original: Original, path: string): void {
  try {
    accessSync(`/proc/self/fd/${original.descriptor}`, constants.W_OK);
  } catch (error) {
    throw translated(error, path);
  }
}

/** Fails when the file at the destination is not the one that was looked at. */
export function requireUnchanged(destination: Destination, { path, original }: Seen, taken: () => ToolFailure): void {
  const now = lookAt(destination, path);
  try {
    if (now !== undefined && original === undefined) throw taken();
    if (original !== undefined && (now === undefined || !isSame(now, original))) throw changed(path);
  } finally {
    if (now) closeSync(now.descriptor);
  }
}

/** Whether nobody changed the file in between. */
export function isSame(now: Pick<Original, "stats">, before: Pick<Original, "stats">): boolean {
  return (["dev", "ino", "size", "mtimeNs", "ctimeNs"] as const).every(
    (field) => now.stats[field] === before.stats[field],
  );
}

/** The failure of a change that held its lock for too long. */
export function tooSlow(path: string): ToolFailure {
  const message = `${quoted(path)} took longer to write than its lock lasts; nothing was written`;
  return new ToolFailure("RESOURCE_BUSY", message, { suggestion: "try again, or write less at once", retryAfterMs: 0 });
}

function requireSize(original: Original, bytesMax: number, path: string): Original {
  if (original.stats.size <= BigInt(bytesMax)) return original;
  const message = `${quoted(path)} has ${original.stats.size} bytes; at most ${bytesMax} can be changed in place`;
  throw new ToolFailure("FILE_TOO_LARGE", message, "split the file, or write it anew with write_file");
}

async function readWhole(original: Original, path: string, signal: AbortSignal): Promise<Uint8Array> {
  const descriptor = openForReading(original.descriptor, path);
  try {
    return await readInSteps({ descriptor, path }, { offset: 0, length: Number(original.stats.size) }, signal);
  } finally {
    closeSync(descriptor);
  }
}

/** The path by which other calls can name the destination. */
export function pathOf(scope: FileScope, destination: Destination): string {
  const { place } = destination;
  // that of another session has the same name
  return place.root === "scratch"
    ? `${handleOf(scope.roots, "scratch").path}/${place.path}`
    : namedPath(scope.roots, place);
}
