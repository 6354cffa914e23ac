/** Reads what stands in a view and in its workspace; no link is followed. */
import { closeSync, constants, fstatSync, lstatSync, readSync } from "node:fs";
import { posix } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { overlayAttribute } from "../native/layer-calls.ts";
import { errno, O_PATH, openBeneath } from "../native/syscalls.ts";

/** Bytes of a file that is passed on; a larger one is not. */
export const PASSED_ON_BYTES_MAX = 4 * MIB;

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

/** What stands in the workspace. */
export type Standing =
  | { readonly kind: "gone" | "other" }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number; readonly mtimeNs: bigint };

/** Whether the overlay has marked a directory. */
export function hasMark(directory: number, mark: "opaque" | "origin"): boolean {
  return overlayAttribute(`/proc/self/fd/${directory}/.`, mark) !== undefined;
}

/** Does `work` in the directory at `path`, no link followed; nothing where there is none. */
export function within<Result>(directory: number, path: string, work: (opened: number) => Result): Result | undefined {
  const opened = openBeneath(directory, path, DIRECTORY, "plain");
  if (opened < 0) return undefined;
  try {
    return work(opened);
  } finally {
    closeSync(opened);
  }
}

/** What has that path, no link followed. */
export function standing(directory: number, path: string) {
  return within(directory, posix.dirname(path), (parent) =>
    lstatSync(`/proc/self/fd/${parent}/${posix.basename(path)}`, { throwIfNoEntry: false }),
  );
}

/** Whether it says that something is gone. */
export function isWhiteout(found: NonNullable<ReturnType<typeof standing>>): boolean {
  return found.isCharacterDevice() && found.rdev === 0;
}

/** What stands in the workspace; a file that is too large, and what nobody can open, is other. */
export function standingIn(root: number, path: string): Standing {
  const opened = openBeneath(root, path, READ, "plain");
  if (opened === -errno.ENOENT || opened === -errno.ENOTDIR) return { kind: "gone" };
  if (opened < 0) return { kind: "other" };
  try {
    const found = fstatSync(opened, { bigint: true });
    const mode = Number(found.mode);
    if (found.isDirectory()) return { kind: "directory", mode };
    if (!found.isFile() || found.size > PASSED_ON_BYTES_MAX) return { kind: "other" };
    const bytes = readUpTo(opened, Number(found.size));
    return bytes === undefined ? { kind: "other" } : { kind: "file", bytes, mode, mtimeNs: found.mtimeNs };
  } finally {
    closeSync(opened);
  }
}

/** The bytes of a file that has so many. */
export function contentOf(directory: number, path: string, bytes: number): Buffer | undefined {
  const opened = openBeneath(directory, path, READ, "plain");
  if (opened < 0) return undefined;
  try {
    return fstatSync(opened).isFile() ? readUpTo(opened, bytes) : undefined;
  } finally {
    closeSync(opened);
  }
}

/** All of a file that has so many bytes; `undefined` where it has others. */
function readUpTo(opened: number, bytes: number): Buffer | undefined {
  const content = Buffer.allocUnsafe(bytes + 1);
  let length = 0;
  for (;;) {
    const count = readSync(opened, content, length, content.length - length, null);
    length += count;
    if (count === 0 || length > bytes) return length === bytes ? content.subarray(0, bytes) : undefined;
  }
}
