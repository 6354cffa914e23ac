/**
 * The few system calls that Node does not offer, by way of libc's `syscall`.
 *
 * `openat2` is what makes file access safe: the kernel itself refuses a path that leaves the directory it starts from.
 * Results are file descriptors or negative error numbers, as the kernel gives them; nothing throws for an ordinary
 * error. INVARIANTS: no name with a null byte reaches C, where it would be cut short; no opening waits for anybody,
 * neither for the other end of a FIFO nor for the holder of a lease, who may take `/proc/sys/fs/lease-break-time`, 45
 * s: then it is `-EAGAIN`.
 */
import { constants, openSync } from "node:fs";
import { constants as machine } from "node:os";
import koffi from "koffi";
import { assert, KernelError } from "../../base/errors.ts";
import { fromLibrary } from "./c-library.ts";

/** A descriptor that names a file without opening it: no FIFO blocks, no device notices. */
export const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
/** Part of every opening: nothing that lies there makes this thread wait, and no terminal becomes this process's. */
const WITHOUT_WAITING = constants.O_NONBLOCK | constants.O_NOCTTY;

/** Mounts are not crossed. */
const RESOLVE_NO_XDEV = 0x01;
/** Links of `/proc` that jump anywhere are not followed. */
const RESOLVE_NO_MAGICLINKS = 0x02;
/** No symbolic link is followed, in any component. */
const RESOLVE_NO_SYMLINKS = 0x04;
/** Nothing leads out of the starting directory, not even on the way. */
const RESOLVE_BENEATH = 0x08;

/** How a path may be walked: `contained` follows links that stay inside, `plain` follows none. */
export type Walk = "contained" | "plain";

const CONTAINED = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
const RESOLVE: Readonly<Record<Walk, bigint>> = {
  contained: BigInt(CONTAINED),
  plain: BigInt(CONTAINED | RESOLVE_NO_SYMLINKS),
};

const OPENAT2 = 437; // the same number on every architecture
const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const OPEN_HOW_BYTES = 24;
const LINK_BYTES_MAX = 4096;

/** Error numbers by name. */
export const errno = machine.errno;

interface Calls {
  readonly openat2: (number: number, directory: number, path: string, how: BigUint64Array, size: number) => number;
  readonly openat: (directory: number, name: string, flags: number) => number;
  readonly renameat2: (
    number: number,
    fromDirectory: number,
    from: string,
    toDirectory: number,
    to: string,
    flags: number,
  ) => number;
  readonly linkat: (fromDirectory: number, from: string, toDirectory: number, to: string, flags: number) => number;
  readonly mkdirat: (directory: number, name: string, mode: number) => number;
  readonly symlinkat: (points: Uint8Array, directory: number, name: string) => number;
  readonly fchownat: (directory: number, name: string, userId: number, groupId: number, flags: number) => number;
  readonly unlinkat: (directory: number, name: string, flags: number) => number;
  readonly readlinkat: (directory: number, name: string, into: Buffer, size: number) => number;
  readonly read: (descriptor: number, into: Uint8Array, size: number) => number;
  readonly pread: (descriptor: number, into: Uint8Array, size: number, offset: number) => number;
  readonly close: (descriptor: number) => number;
  readonly statx: (directory: number, name: string, flags: number, mask: number, into: Uint32Array) => number;
  readonly statxBytes: (directory: number, name: Uint8Array, flags: number, mask: number, into: Uint32Array) => number;
  readonly clockGetTime: (clock: number, into: BigInt64Array) => number;
}

const calls = fromLibrary((libc): Calls => {
  if (process.platform !== "linux")
    throw new KernelError("INTERNAL", "file access needs Linux; run the kernel in a Linux machine or WSL2");
  return {
    openat2: libc.func("long syscall(long number, long directory, const char *path, const void *how, size_t size)"),
    openat: libc.func("int openat(int directory, const char *name, int flags)"),
    renameat2: libc.func(
      "long syscall(long number, long fromDirectory, const char *from, long toDirectory, const char *to, unsigned int flags)",
    ),
    linkat: libc.func("int linkat(int fromDirectory, const char *from, int toDirectory, const char *to, int flags)"),
    mkdirat: libc.func("int mkdirat(int directory, const char *name, unsigned int mode)"),
    symlinkat: libc.func("int symlinkat(const void *points, int directory, const char *name)"),
    fchownat: libc.func(
      "int fchownat(int directory, const char *name, unsigned int userId, unsigned int groupId, int flags)",
    ),
    unlinkat: libc.func("int unlinkat(int directory, const char *name, int flags)"),
    readlinkat: libc.func("long readlinkat(int directory, const char *name, void *into, size_t size)"),
    read: libc.func("long read(int descriptor, void *into, size_t size)"),
    pread: libc.func("long pread(int descriptor, void *into, size_t size, long offset)"),
    close: libc.func("int close(int descriptor)"),
    statx: libc.func("int statx(int directory, const char *name, int flags, unsigned int mask, void *into)"),
    statxBytes: libc.func("int statx(int directory, const void *name, int flags, unsigned int mask, void *into)"),
    clockGetTime: libc.func("int clock_gettime(int clock, void *into)"),
  };
});

const how = new BigUint64Array(3); // calls are synchronous, so one is enough

/**
 * Opens `path` below the directory `directory`; close-on-exec, and without waiting.
 * @returns a descriptor, or a negative error number (`-EXDEV` when the path leads out or onto another mount, `-EAGAIN`
 * when somebody
 *   holds a lease on it, or when something on the way was renamed just then)
 */
export function openBeneath(directory: number, path: string, flags: number, walk: Walk, mode = 0): number {
  assert(!path.includes("\0"), "a path with a null byte reached the system");
  how[0] = BigInt(flags | O_CLOEXEC | ((flags & O_PATH) === 0 ? WITHOUT_WAITING : 0));
  how[1] = BigInt(mode);
  how[2] = RESOLVE[walk];
  return result(calls().openat2(OPENAT2, directory, path, how, OPEN_HOW_BYTES));
}

let own: number | undefined;

/**
 * Where this process finds its own descriptors by number; held open, so that nobody walks there from `/` for each file.
 */
function ownDescriptors(): number {
  own ??= openSync("/proc/self/fd", O_PATH | constants.O_DIRECTORY);
  return own;
}

/**
 * Opens for reading what the `O_PATH` descriptor `descriptor` names, the same file whatever happened to its name;
 * close-on-exec, and without waiting. INVARIANT: whoever calls knows that it is a regular file.
 * @returns a descriptor, or a negative error number (`-EAGAIN` when somebody holds a lease on it)
 */
export function openAgain(descriptor: number): number {
  return result(calls().openat(ownDescriptors(), `${descriptor}`, constants.O_RDONLY | WITHOUT_WAITING | O_CLOEXEC));
}

/** What a renaming does with what stands under the new name: it stays and fails it, goes, or gets the old name. */
export type Renaming = "keep" | "replace" | "exchange";

const RENAME_FLAGS: Readonly<Record<Renaming, number>> = { keep: 1, replace: 0, exchange: 2 };

/**
 * Gives what `from` (a path below the directory `fromDirectory`) names the name `to` in the directory `toDirectory`.
 * @returns 0, or a negative error number: `-EEXIST` where something stands that is to be kept, `-EXDEV` on another
 * file system, `-EINVAL` on one that can only replace
 */
export function renameBetween(
  fromDirectory: number,
  from: string,
  toDirectory: number,
  to: string,
  renaming: Renaming,
): number {
  assert(!from.includes("\0") && !to.includes("\0"), "a name with a null byte reached the system");
  const number = RENAMEAT2[process.arch];
  if (number === undefined) return -errno.ENOSYS;
  return result(calls().renameat2(number, fromDirectory, from, toDirectory, to, RENAME_FLAGS[renaming]));
}

/** A name in an open directory, or a path below it. */
export interface NameIn {
  readonly directory: number;
  readonly name: string;
}

/** Gives the file `from` the name `to`, failing with `-EEXIST` when there is one, and takes `from` away. */
export function linkThenRemove(from: NameIn, to: NameIn): number {
  assert(!from.name.includes("\0") && !to.name.includes("\0"), "a name with a null byte reached the system");
  const linked = result(calls().linkat(from.directory, from.name, to.directory, to.name, 0));
  return linked < 0 ? linked : removeName(from.directory, from.name, "file");
}

/** Makes the directory `name` in `directory`. */
export function makeDirectory(directory: number, name: string): number {
  assert(!name.includes("\0"), "a name with a null byte reached the system");
  return result(calls().mkdirat(directory, name, 0o777));
}

const AT_SYMLINK_NOFOLLOW = 0x100;

/**
 * Makes the link `name` in `directory`, for the directory's owner where this process may; fails with `-EEXIST` when
 * something stands there.
 */
export function makeLink(
  directory: number,
  name: string,
  points: Uint8Array,
  owner: { readonly uid: number; readonly gid: number },
): number {
  assert(!name.includes("\0") && !points.includes(0), "a name with a null byte reached the system");
  const made = result(calls().symlinkat(Buffer.concat([points, Uint8Array.of(0)]), directory, name));
  if (made >= 0 && process.geteuid?.() === 0)
    calls().fchownat(directory, name, owner.uid, owner.gid, AT_SYMLINK_NOFOLLOW);
  return made;
}

const AT_REMOVEDIR = 0x200;

/** Removes the name `name` from `directory`; a directory only when it is empty. */
export function removeName(directory: number, name: string, kind: "file" | "directory"): number {
  assert(!name.includes("\0"), "a name with a null byte reached the system");
  return result(calls().unlinkat(directory, name, kind === "directory" ? AT_REMOVEDIR : 0));
}

const link = Buffer.alloc(LINK_BYTES_MAX); // calls are synchronous, so one is enough

/** The text of the symbolic link that `descriptor` (opened with `O_PATH`) names, or `undefined` when it is none. */
export function linkText(descriptor: number): string | undefined {
  return textOf(descriptor, "");
}

/** The absolute path under which the system knows `descriptor` now, or `undefined` when it cannot say. */
export function ownPath(descriptor: number): string | undefined {
  return textOf(ownDescriptors(), `${descriptor}`);
}

function textOf(directory: number, name: string): string | undefined {
  const length = calls().readlinkat(directory, name, link, LINK_BYTES_MAX);
  return length < 0 ? undefined : link.toString("utf8", 0, length);
}

/** Reads the next bytes of `descriptor` into the whole of `into`; how many, 0 at the end. */
export function readNext(descriptor: number, into: Uint8Array): number {
  return result(Number(calls().read(descriptor, into, into.byteLength)));
}

/**
 * Reads bytes of `descriptor` from `offset` on into the whole of `into`; how many, 0 at the end, or a negative error
 * number.
 */
export function readAt(descriptor: number, into: Uint8Array, offset: number): number {
  return result(calls().pread(descriptor, into, into.byteLength, offset));
}

/**
 * Closes what `openBeneath` or `openAgain` opened. Node's own `closeSync` warns of descriptors that it did not open
 * itself, in threads.
 */
export function closeDescriptor(descriptor: number): void {
  calls().close(descriptor);
}

const AT_EMPTY_PATH = 0x1000;
const STATX_TYPE_LINKS_AND_SIZE = 0x205;
const STATX_BYTES = 256;
// The layout of `statx` is the same on every architecture; on all that file access is made for, the lower half of a
// number comes first. Calls are synchronous, so one is enough.
const status = new Uint32Array(STATX_BYTES / 4);
const STATUS_LINKS = 16 / 4;
const STATUS_MODE = 28 / 4; // in the lower half
const STATUS_SIZE = 40 / 4;
const UPPER_HALF = 2 ** 32;

/**
 * The size of the regular file that `descriptor` names; `undefined` when it names something else, or one that has lost
 * its last name and shall have one.
 */
export function regularFileSize(descriptor: number, isNamed = false): number | undefined {
  if (calls().statx(descriptor, "", AT_EMPTY_PATH, STATX_TYPE_LINKS_AND_SIZE, status) < 0) return undefined;
  if (isNamed && status[STATUS_LINKS] === 0) return undefined;
  return statusKind() === constants.S_IFREG ? statusSize() : undefined;
}

/** What stands in a directory under a name: the kind as `S_IFMT` of its mode says it. */
export interface Standing {
  readonly kind: number;
  readonly sizeBytes: number;
}

const STATX_TYPE_AND_SIZE = 0x201;
const AT_NO_AUTOMOUNT = 0x800;

/** What stands under `name`, bytes and a null byte, in `directory`, no link followed; or a negative error number. */
export function standingAt(directory: number, name: Uint8Array): Standing | number {
  assert(
    name.length > 1 && name.indexOf(0) === name.length - 1,
    "a name with a null byte, or without one at its end, reached the system",
  );
  const flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT; // as `lstat` does
  const looked = result(calls().statxBytes(directory, name, flags, STATX_TYPE_AND_SIZE, status));
  return looked < 0 ? looked : { kind: statusKind(), sizeBytes: statusSize() };
}

function statusKind(): number {
  return (status[STATUS_MODE] ?? 0) & constants.S_IFMT;
}

function statusSize(): number {
  return (status[STATUS_SIZE] ?? 0) + (status[STATUS_SIZE + 1] ?? 0) * UPPER_HALF;
}

const CLOCK_THREAD_CPUTIME_ID = 3;
const threadTime = new BigInt64Array(2);

/** Milliseconds of processor time that this thread has used. */
export function threadTimeMs(): number {
  calls().clockGetTime(CLOCK_THREAD_CPUTIME_ID, threadTime);
  return Number(threadTime[0]) * 1000 + Number(threadTime[1]) / 1e6;
}

function result(value: number): number {
  return value < 0 ? -koffi.errno() : value;
}

const names = new Map<number, string>(Object.entries(machine.errno).map(([name, value]) => [value, name]));

const WANTS: ReadonlySet<number> = new Set([-errno.EMFILE, -errno.ENFILE, -errno.ENOMEM]);

/**
 * Whether a negative error number says that the machine is short of descriptors or memory: it says nothing of the file.
 */
export function isWant(negative: number): boolean {
  return WANTS.has(negative);
}

/** The name of a negative error number, such as `ENOENT`. */
export function errorName(negative: number): string {
  if (-negative === errno.EAGAIN) return "EAGAIN";
  return names.get(-negative) ?? `error ${-negative}`;
}
