/**
 * Looks at files of a repository without running git: contained, without following links, small ones only.
 *
 * INVARIANT: nothing is opened but regular files and directories below the workspace, whatever the repository puts in
 * their place.
 */
import { closeSync, constants, fstatSync, opendirSync, readSync } from "node:fs";
import { KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { isLeased } from "../files/places/failures.ts";
import type { RootHandle } from "../files/places/roots.ts";
import { O_PATH, openBeneath } from "../native/syscalls.ts";

/** What lies under a name. */
export type Kind = "file" | "directory" | "other" | "nothing";

/** Looks below one directory of the workspace. */
export interface RepositoryFiles {
  /** Links are `other`, and so is what cannot be looked at. */
  readonly kindOf: (path: string) => Kind;
  /** Another mark, another file or directory, or other things in it; links are not followed. */
  readonly markOf: (path: string) => string;
  /**
   * What a directory holds, nothing where there is none; `undefined` for more than `namesMax` names, and for what
   * cannot be looked at.
   */
  readonly namesIn: (path: string, namesMax: number) => readonly string[] | undefined;
  /**
   * A regular file of at most `bytesMax` bytes; `undefined` for anything else.
   * @throws KernelError WORKSPACE_BUSY when somebody holds a lease on it
   */
  readonly read: (path: string, bytesMax: number) => string | undefined;
  /** `length` bytes of a regular file, or as many as there are; `undefined` where there is none. Else as `read`. */
  readonly piece: (path: string, from: number, length: number) => Buffer | undefined;
  /** The digest of a regular file of at most `bytesMax` bytes; empty for anything else. Otherwise as `read`. */
  readonly digestOf: (path: string, bytesMax: number) => string;
}

/** The files of a repository whose own directory `path` is, under the names that they would have below `.git`. */
export function filesOfRepository(handle: RootHandle, path: string): RepositoryFiles {
  const files = repositoryFiles(handle, path);
  const inside = (name: string) => name.replace(/^\.git\//, "");
  return {
    kindOf: (name) => files.kindOf(inside(name)),
    markOf: (name) => files.markOf(inside(name)),
    namesIn: (name, namesMax) => files.namesIn(inside(name), namesMax),
    read: (name, bytesMax) => files.read(inside(name), bytesMax),
    piece: (name, from, length) => files.piece(inside(name), from, length),
    digestOf: (name, bytesMax) => files.digestOf(inside(name), bytesMax),
  };
}

/** The files below `directory` of the workspace of `handle`. */
export function repositoryFiles(handle: RootHandle, directory: string): RepositoryFiles {
  const at = (path: string) => (directory === "." ? path : `${directory}/${path}`);
  const ofFile = <Found>(path: string, look: (descriptor: number, size: number) => Found): Found | undefined => {
    const descriptor = openBeneath(handle.descriptor, at(path), constants.O_RDONLY | constants.O_NOFOLLOW, "plain");
    // Whatever would be made of an absent file would be wrong.
    if (isLeased(descriptor))
      throw new KernelError("WORKSPACE_BUSY", `\`${at(path)}\` is held by another program, which has a lease on it`);
    if (descriptor < 0) return undefined;
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() ? look(descriptor, stats.size) : undefined;
    } finally {
      closeSync(descriptor);
    }
  };
  return {
    kindOf(path) {
      const descriptor = openBeneath(handle.descriptor, at(path), O_PATH | constants.O_NOFOLLOW, "plain");
      if (descriptor < 0) return descriptor === -ENOENT ? "nothing" : "other";
      try {
        const stats = fstatSync(descriptor);
        return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
      } finally {
        closeSync(descriptor);
      }
    },
    markOf(path) {
      const descriptor = openBeneath(handle.descriptor, at(path), O_PATH | constants.O_NOFOLLOW, "plain");
      if (descriptor < 0) return String(descriptor);
      try {
        const { ino, mode, size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
        return [ino, mode, size, mtimeNs, ctimeNs].join(" ");
      } finally {
        closeSync(descriptor);
      }
    },
    namesIn(path, namesMax) {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      const descriptor = openBeneath(handle.descriptor, at(path), flags, "plain");
      if (descriptor < 0) return descriptor === -ENOENT ? [] : undefined;
      try {
        return firstNames(descriptor, namesMax);
      } finally {
        closeSync(descriptor);
      }
    },
    read: (path, bytesMax) => ofFile(path, (descriptor, size) => whole(descriptor, size, bytesMax)?.toString("utf8")),
    piece: (path, from, length) =>
      ofFile(path, (descriptor, size) => bytesOf(descriptor, from, Math.max(0, Math.min(length, size - from)))),
    digestOf(path, bytesMax) {
      const bytes = ofFile(path, (descriptor, size) => whole(descriptor, size, bytesMax));
      return bytes === undefined ? "" : blake3Hex(bytes);
    },
  };
}

function whole(descriptor: number, size: number, bytesMax: number): Buffer | undefined {
  return size > bytesMax ? undefined : bytesOf(descriptor, 0, size);
}

/** What stands there; less where the file became shorter meanwhile. */
function bytesOf(descriptor: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(descriptor, bytes, done, length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

function firstNames(descriptor: number, namesMax: number): readonly string[] | undefined {
  const names: string[] = [];
  const directory = opendirSync(`/proc/self/fd/${descriptor}`, { bufferSize: NAMES_PER_CALL });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (names.length >= namesMax) return undefined;
      names.push(entry.name);
    }
  } finally {
    directory.closeSync();
  }
  return names;
}

const NAMES_PER_CALL = 256;
const ENOENT = 2;
