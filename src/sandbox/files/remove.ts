/**
 * Deleting one regular file: its name is taken out of the directory in which it was judged.
 *
 * Decides: what may be deleted. Never a directory, never a symbolic link (neither the link nor, through it, another
 * file: an agent that names a link has one of both in mind), never a file with a second name, as for writing, never one
 * that is closed to writing. INVARIANTS: under the file's lock, and the file is still the one that was looked at right
 * before its name goes; no link is followed once the place was judged; the directory is brought to disk.
 */
import { closeSync, constants, fstatSync } from "node:fs";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { RemoveReceipt } from "../../model/place/files.ts";
import { errorName, O_PATH, openBeneath, removeName } from "../native/syscalls.ts";
import { type HeldLock, withFileLock } from "./lock.ts";
import { noteChange } from "./noted-change.ts";
import { syncDirectory } from "./places/directory-sync.ts";
import { changed, failureOf, notAFile, quoted, throwIfCancelled, translated } from "./places/failures.ts";
import { findExisting, kindOf, requestedPlace } from "./places/open.ts";
import { type Destination, openExistingDestination, requireInPlace } from "./places/parent.ts";
import { handleOf } from "./places/roots.ts";
import { freeDescriptor } from "./replace.ts";
import {
  lockKeyOf,
  lookAt,
  passOnChange,
  pathOf,
  requireTarget,
  requireUnchanged,
  requireWritable,
  tooSlow,
  type WriteScope,
} from "./write.ts";

/** Deletes the regular file that `path` names. */
export async function removeContained(scope: WriteScope, path: string): Promise<RemoveReceipt> {
  throwIfCancelled(scope.signal);
  let destination: Destination | undefined;
  try {
    const found = findExisting(scope, path, ["write"]);
    closeSync(found.descriptor);
    refuseLink(scope, path);
    if (!found.stats.isFile()) throw notAFile(path, kindOf(found.stats));
    destination = openExistingDestination(scope.roots, found.place, path);
    const target = destination;
    return await withFileLock(scope, { key: lockKeyOf(target), path }, (lock) =>
      removeLocked(scope, target, { path, lock }),
    );
  } catch (error) {
    throw translated(error, path);
  } finally {
    if (destination) closeSync(destination.directory);
  }
}

/** A link is refused where the path ends; links on the way were followed and judged. */
function refuseLink(scope: WriteScope, path: string): void {
  const { root, path: inside } = requestedPlace(scope, path);
  const descriptor = openBeneath(
    handleOf(scope.roots, root).descriptor,
    inside,
    O_PATH | constants.O_NOFOLLOW,
    "contained",
  );
  if (descriptor < 0) return; // whatever it is, its end was found, and that is what would be deleted
  try {
    if (fstatSync(descriptor).isSymbolicLink()) throw notAFile(path, "symbolic link");
  } finally {
    closeSync(descriptor);
  }
}

async function removeLocked(
  scope: WriteScope,
  destination: Destination,
  { path, lock }: { readonly path: string; readonly lock: HeldLock },
): Promise<RemoveReceipt> {
  const original = lookAt(destination, path);
  if (original === undefined) throw failureOf("ENOENT", path);
  try {
    requireWritable(original, path);
    await requireTarget(scope, destination, { path, original });
    const noted = await noteChange(scope, destination, { path, original });
    let isGone = false;
    try {
      throwIfCancelled(scope.signal);
      if (!lock.isFresh()) throw tooSlow(path);
      requireInPlace(scope.roots, destination, path);
      requireUnchanged(destination, { path, original }, () => changed(path));
      const result = removeName(destination.directory, destination.name, "file");
      if (result < 0) throw failureOf(errorName(result), path);
      isGone = true;
    } finally {
      await (isGone ? noted.made() : noted.forget());
      if (isGone) await passOnChange(scope.roots, destination);
    }
  } finally {
    await freeDescriptor(original.descriptor);
  }
  await toDisk(destination, path);
  return { path: pathOf(scope, destination), sizeBytes: Number(original.stats.size) };
}

async function toDisk(destination: Destination, path: string): Promise<void> {
  try {
    await syncDirectory(destination.directory);
  } catch {
    // The name is gone, only whether it stays so after a power failure is uncertain; saying "failed" would be a lie.
    const next = "list the directory to see whether it is gone, and have the disk checked";
    throw new ToolFailure("OUTCOME_UNKNOWN", `${quoted(path)} was deleted, but the disk did not confirm it`, next);
  }
}
