/** System calls of views that Node does not offer: renames between directories, and attributes that overlays keep. */
import koffi from "koffi";
import { assert } from "../../base/errors.ts";
import { errno } from "./syscalls.ts";

const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const RENAME_NOREPLACE = 1;

interface Calls {
  readonly renameat2: (number: number, fromDirectory: number, from: string, toDirectory: number, to: string, flags: number) => number;
  readonly lgetxattr: (path: string, name: string, into: Buffer, size: number) => number;
  readonly lremovexattr: (path: string, name: string) => number;
}

let loaded: Calls | undefined;

function calls(): Calls {
  loaded ??= load();
  return loaded;
}

function load(): Calls {
  const libc = koffi.load(null);
  return {
    renameat2: libc.func(
      "long syscall(long number, long fromDirectory, const char *from, long toDirectory, const char *to, unsigned int flags)",
    ),
    lgetxattr: libc.func("long lgetxattr(const char *path, const char *name, void *into, size_t size)"),
    lremovexattr: libc.func("int lremovexattr(const char *path, const char *name)"),
  };
}

/**
 * Gives what `from` (a path below the directory `fromDirectory`) names the name `to` in the directory `toDirectory`.
 * @returns 0, or a negative error number: `-EEXIST` where something stands and is not to be replaced, `-EXDEV` on another file system
 */
export function renameBetween(fromDirectory: number, from: string, toDirectory: number, to: string, replace: boolean): number {
  assert(!from.includes("\0") && !to.includes("\0"), "a name with a null byte reached the system");
  const number = RENAMEAT2[process.arch];
  if (number === undefined) return -errno.ENOSYS;
  const result = calls().renameat2(number, fromDirectory, from, toDirectory, to, replace ? 0 : RENAME_NOREPLACE);
  return result < 0 ? -koffi.errno() : result;
}

const VALUE_BYTES = 64;
const value = Buffer.alloc(VALUE_BYTES); // calls are synchronous, so one is enough

/** The overlay's attribute `name` of what lies at `path`, no link followed; `undefined` when it has none. */
export function overlayAttribute(path: string, name: "opaque" | "origin"): string | undefined {
  const length = Number(calls().lgetxattr(path, `user.overlay.${name}`, value, VALUE_BYTES));
  return length < 0 ? undefined : value.toString("latin1", 0, length);
}

/** Takes an overlay's attribute away, where there is one. */
export function removeOverlayAttribute(path: string, name: "opaque" | "origin"): void {
  calls().lremovexattr(path, `user.overlay.${name}`);
}
