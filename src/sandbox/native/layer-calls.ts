/** System calls of views that Node does not offer: exact times, attributes, shared blocks, files of other users. */
import koffi from "koffi";
import { assert } from "../../base/errors.ts";
import { fromLibrary } from "./c-library.ts";

interface Calls {
  readonly ioctl: (descriptor: number, request: number, value: number) => number;
  readonly lseek: (descriptor: number, offset: number, whence: number) => number | bigint;
  readonly getxattr: (path: string, name: string, into: Buffer, size: number) => number;
  readonly lgetxattr: (path: string, name: string, into: Buffer, size: number) => number;
  readonly lremovexattr: (path: string, name: string) => number;
  readonly setxattr: (path: string, name: string, value: Buffer, size: number, flags: number) => number;
  readonly utimensat: (directory: number, name: string, times: BigInt64Array, flags: number) => number;
  readonly setfsuid: (userId: number) => number;
  readonly setfsgid: (groupId: number) => number;
}

const calls = fromLibrary(
  (libc): Calls => ({
    ioctl: libc.func("int ioctl(int descriptor, unsigned long request, long value)"),
    lseek: libc.func("int64_t lseek(int descriptor, int64_t offset, int whence)"),
    getxattr: libc.func("long getxattr(const char *path, const char *name, void *into, size_t size)"),
    lgetxattr: libc.func("long lgetxattr(const char *path, const char *name, void *into, size_t size)"),
    lremovexattr: libc.func("int lremovexattr(const char *path, const char *name)"),
    setxattr: libc.func("int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)"),
    utimensat: libc.func("int utimensat(int directory, const char *name, const void *times, int flags)"),
    setfsuid: libc.func("int setfsuid(unsigned int userId)"),
    setfsgid: libc.func("int setfsgid(unsigned int groupId)"),
  }),
);

const FICLONE = 0x40049409; // the same number on x86-64 and arm64

/** Lets the empty file `made` share all blocks of `source`. @returns 0, or a negative error number */
export function cloneFile(source: number, made: number): number {
  const result = calls().ioctl(made, FICLONE, source);
  return result < 0 ? -koffi.errno() : result;
}

const SEEK_DATA = 3;
const SEEK_HOLE = 4;
const ENXIO = 6;

/** Bytes of a file that are no hole: the first, and the one after the last. */
export interface DataRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The next bytes of the open file that are no hole, from `offset` on; `undefined` where none follow. On a file system
 * that knows no holes they begin with `offset` itself and end nowhere. It moves where the descriptor stands.
 */
export function dataFrom(descriptor: number, offset: number): DataRange | undefined {
  const from = Number(calls().lseek(descriptor, offset, SEEK_DATA));
  if (from < 0) return koffi.errno() === ENXIO ? undefined : { from: offset, to: Number.POSITIVE_INFINITY };
  const to = Number(calls().lseek(descriptor, from, SEEK_HOLE));
  return { from, to: to < 0 ? Number.POSITIVE_INFINITY : to };
}

const VALUE_BYTES = 64;
const value = Buffer.alloc(VALUE_BYTES); // calls are synchronous, so one is enough

/** The overlay's attribute `name` of what lies at `path`, no link followed; `undefined` when it has none. */
export function overlayAttribute(path: string, name: "opaque" | "origin"): string | undefined {
  const length = Number(calls().lgetxattr(path, `user.overlay.${name}`, value, VALUE_BYTES));
  return length < 0 ? undefined : value.toString("latin1", 0, length);
}

/** Attributes by which an overlay knows what lies in it. */
export const OVERLAY_ATTRIBUTES = ["opaque", "origin", "redirect", "metacopy", "whiteout"] as const;

/** Takes an overlay's attribute away, where there is one. */
export function removeOverlayAttribute(path: string, name: (typeof OVERLAY_ATTRIBUTES)[number]): void {
  calls().lremovexattr(path, `user.overlay.${name}`);
}

const AT_SYMLINK_NOFOLLOW = 0x100;
const SECOND_NS = 1_000_000_000n;
const times = new BigInt64Array(4); // calls are synchronous, so one is enough

/**
 * Gives `name` in the directory `directory` the times, in nanoseconds, no link followed. @returns 0, or a negative
 * error number
 */
export function setTimes(
  directory: number,
  name: string,
  { atimeNs, mtimeNs }: Readonly<Record<"atimeNs" | "mtimeNs", bigint>>,
): number {
  assert(!name.includes("\0"), "a name with a null byte reached the system");
  for (const [index, time] of [atimeNs, mtimeNs].entries()) {
    const inSecond = ((time % SECOND_NS) + SECOND_NS) % SECOND_NS; // also before 1970
    times[index * 2] = (time - inSecond) / SECOND_NS;
    times[index * 2 + 1] = inSecond;
  }
  const result = calls().utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
  return result < 0 ? -koffi.errno() : result;
}

const ACCESS_LIST = "system.posix_acl_access";
const LIST_BYTES_MAX = 65_536;
const listed = Buffer.alloc(LIST_BYTES_MAX); // calls are synchronous, so one is enough

/**
 * The access control list of the file at `path` beyond its rights, as the machine writes it; `undefined` when it has
 * none.
 */
export function accessList(path: string): Buffer | undefined {
  return copyOf(Number(calls().lgetxattr(path, ACCESS_LIST, listed, LIST_BYTES_MAX)));
}

/** The same of an open file, also of one that is open as a place alone. */
export function accessListOf(descriptor: number): Buffer | undefined {
  return copyOf(Number(calls().getxattr(`/proc/self/fd/${descriptor}`, ACCESS_LIST, listed, LIST_BYTES_MAX)));
}

function copyOf(length: number): Buffer | undefined {
  return length <= 0 ? undefined : Buffer.from(listed.subarray(0, length));
}

/** Gives the file at `path` the list, links followed. @returns whether it has it */
export function setAccessList(path: string, list: Buffer): boolean {
  return calls().setxattr(path, ACCESS_LIST, list, list.byteLength, 0) === 0;
}

/** A user of the machine, and its group. */
export interface FileUser {
  readonly userId: number;
  readonly groupId: number;
}

/**
 * Does `work` as `user`, where this process is root: what it makes is that user's, and it may do what that user may.
 * INVARIANT: it waits for nothing and begins nothing that goes on: for as long as it lasts this thread is that user.
 */
export function asFileUser<Result>(user: FileUser | undefined, work: () => Result): Result {
  if (user === undefined) return work();
  const ownGroup = calls().setfsgid(user.groupId);
  const ownUser = calls().setfsuid(user.userId);
  try {
    return work();
  } finally {
    calls().setfsuid(ownUser);
    calls().setfsgid(ownGroup);
  }
}
