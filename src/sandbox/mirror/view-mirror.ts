/**
 * Shows in the view of a running command what Handrail's own calls change in the workspace meanwhile.
 *
 * An overlay remembers names: what is saved below by renaming is seen late or never, and no watcher hears of it. So the
 * file is written once more, through the overlay, as the command itself would write it, and what was written is noted.
 * Where the view still holds just that when it lands, it is nobody's change.
 *
 * INVARIANTS: what the command changed itself is left alone, and so is what it does not see; no link is followed,
 * nothing is written but regular files, and nothing is waited for; what is written here never lands.
 */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, readSync, writeSync } from "node:fs";
import { posix } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { asFileUser, type FileUser, overlayAttribute, setTimes } from "../native/layer-calls.ts";
import { errno, makeDirectory, O_PATH, openBeneath, removeName } from "../native/syscalls.ts";
import type { RunningView } from "./running-views.ts";

/** Bytes of a file that is passed on; a larger one is not. */
export const PASSED_ON_BYTES_MAX = 4 * MIB;
/** Bytes that stand in one view because they were passed on to it. */
const PASSED_ON_BYTES_TOTAL_MAX = 64 * MIB;
/** Paths of one view that are noted; each costs memory until its command has ended. */
const NOTES_MAX = 10_000;

const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** Without its old bytes: the overlay would copy those from a file that somebody else may hold. */
const OVERWRITE = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OWN_FILE = 0o600;
const RIGHTS = 0o777;
const MODE = 0o7777;

/** What was made to stand in the view. */
type Note =
  | { readonly kind: "gone" | "directory" }
  | { readonly kind: "file"; readonly bytes: number; readonly mode: number; readonly digest: string };

/** What stands in the workspace. */
type Standing =
  | { readonly kind: "gone" | "other" }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number; readonly mtimeNs: bigint };

/** Where what is passed on comes from and goes to; the descriptors are open. */
export interface MirrorPlace {
  /** The workspace, a real path. */
  readonly rootPath: string;
  readonly root: number;
  /** The overlay as the command writes in it, but without the mounts upon it. It is closed with the mirror. */
  readonly merged: number;
  /** What the command has changed. It is closed with the mirror. */
  readonly upper: number;
  /** Whether the command does not see what is there, or would be there. */
  readonly hides: (path: string, isDirectory: boolean) => boolean;
  /** Whose the files are that a command makes, where that is not the kernel's user. */
  readonly user: FileUser | undefined;
}

/** The mirror of one view. */
export class ViewMirror implements RunningView {
  readonly #place: MirrorPlace;
  readonly #notes = new Map<string, Note>();
  #bytes = 0;
  #isOpen = true;

  constructor(place: MirrorPlace) {
    this.#place = place;
  }

  get root(): string {
    return this.#place.rootPath;
  }

  show(path: string): void {
    if (!this.#isOpen || (this.#notes.size >= NOTES_MAX && !this.#notes.has(path))) return;
    try {
      this.#show(path);
    } catch (error) {
      // the view has no room, or the command was quicker: it does not see this change, as if nothing were passed on
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  /** Whether what the view holds at `path` is what was passed on, and nothing else. */
  isPassedOn(path: string): boolean {
    const note = this.#notes.get(path);
    return note !== undefined && this.#isAsNoted(path, note);
  }

  /** Whether anything was passed on. */
  get isEmpty(): boolean {
    return this.#notes.size === 0;
  }

  /** Nothing is shown any more, and the overlay may go. What was noted can be asked for until `dispose`. */
  close(): void {
    if (this.#isOpen) closeSync(this.#place.merged);
    this.#isOpen = false;
  }

  dispose(): void {
    this.close();
    closeSync(this.#place.upper);
  }

  #show(path: string): void {
    const { hides, root } = this.#place;
    const above = directoriesAbove(path);
    if (above.some((directory) => hides(directory, true)) || hides(path, false) || hides(path, true)) return;
    const there = standingIn(root, path);
    if (there.kind === "other") return;
    for (const directory of above) {
      if (!this.#isLower(directory)) return;
      if (there.kind === "gone") continue; // perhaps with the directory
      const standing = standingIn(root, directory);
      if (standing.kind !== "directory" || !this.#showDirectory(directory, standing.mode)) return;
    }
    if (there.kind === "directory") {
      if (this.#isLower(path)) this.#showDirectory(path, there.mode);
    } else if (this.#isUntouched(path)) {
      within(this.#place.merged, posix.dirname(path), (parent) => {
        if (there.kind === "file") this.#write(path, parent, there);
        else this.#remove(path, parent);
      });
    }
  }

  /** Whether the command has neither removed nor replaced the directory: then its names are those of the workspace. */
  #isLower(path: string): boolean {
    const note = this.#notes.get(path);
    const { upper } = this.#place;
    const found = standing(upper, path);
    if (found === undefined) return note?.kind !== "directory";
    if (!found.isDirectory()) return note?.kind === "gone" && isWhiteout(found);
    return note?.kind === "directory" || within(upper, path, (own) => hasMark(own, "opaque")) === false;
  }

  /** Whether the overlay made the directory from the workspace's, to have something in it. */
  #isCopy(path: string): boolean {
    return within(this.#place.upper, path, (own) => hasMark(own, "origin") && !hasMark(own, "opaque")) === true;
  }

  /** Makes it where the view has none. @returns whether there is one */
  #showDirectory(path: string, mode: number): boolean {
    const { merged, user } = this.#place;
    if (within(merged, path, () => true) === true) return true;
    const made = within(merged, posix.dirname(path), (parent) =>
      asFileUser(user, () => makeDirectory(parent, posix.basename(path))),
    );
    if (made !== 0) return false;
    this.#notes.set(path, { kind: "directory" });
    const opened = openBeneath(merged, path, constants.O_RDONLY | constants.O_DIRECTORY, "plain");
    if (opened < 0) return false;
    try {
      fchmodSync(opened, mode & RIGHTS);
    } finally {
      closeSync(opened);
    }
    return true;
  }

  #write(path: string, parent: number, there: Extract<Standing, { readonly kind: "file" }>): void {
    const before = this.#notes.get(path);
    const others = this.#bytes - (before?.kind === "file" ? before.bytes : 0);
    if (others + there.bytes.length > PASSED_ON_BYTES_TOTAL_MAX) return;
    const name = posix.basename(path);
    let opened = openBeneath(parent, name, OVERWRITE, "plain");
    if (opened === -errno.ENOENT)
      opened = asFileUser(this.#place.user, () => openBeneath(parent, name, CREATE, "plain", OWN_FILE));
    if (opened < 0) return;
    let written = 0;
    try {
      if (!fstatSync(opened).isFile()) return;
      try {
        if ((fstatSync(opened).mode & MODE) !== (there.mode & RIGHTS)) fchmodSync(opened, there.mode & RIGHTS);
        while (written < there.bytes.length) written += writeSync(opened, there.bytes, written);
      } finally {
        const { mode } = fstatSync(opened);
        const digest = blake3Hex(there.bytes.subarray(0, written)); // also where there was no room for more
        this.#notes.set(path, { kind: "file", bytes: written, mode: mode & MODE, digest });
        this.#bytes = others + written;
      }
    } finally {
      closeSync(opened);
    }
    setTimes(parent, name, { atimeNs: there.mtimeNs, mtimeNs: there.mtimeNs });
  }

  #remove(path: string, parent: number): void {
    const name = posix.basename(path);
    const found = standing(parent, name);
    if (found === undefined) return;
    if (found.isDirectory()) {
      // an overlay removes no directory that it remembers and that is gone below: it stays, without what was in it
      if (removeName(parent, name, "directory") >= 0) this.#notes.set(path, { kind: "gone" });
      else if (this.#isCopy(path)) this.#notes.set(path, { kind: "directory" });
      return;
    }
    if (removeName(parent, name, "file") < 0) return;
    const before = this.#notes.get(path);
    this.#bytes -= before?.kind === "file" ? before.bytes : 0;
    this.#notes.set(path, { kind: "gone" });
  }

  /** Whether the command has not changed what the view has there. */
  #isUntouched(path: string): boolean {
    const note = this.#notes.get(path);
    const found = standing(this.#place.upper, path);
    if (found === undefined) return note === undefined || note.kind === "gone";
    if (found.isDirectory() && this.#isCopy(path)) return true; // of what lies in it that is asked for each
    return note !== undefined && this.#isAsNoted(path, note);
  }

  /** Whether the upper directory holds what was noted. */
  #isAsNoted(path: string, note: Note): boolean {
    const found = standing(this.#place.upper, path);
    if (found === undefined) return false;
    if (note.kind === "gone") return isWhiteout(found);
    if (note.kind !== "file") return found.isDirectory();
    if (!found.isFile() || found.size !== note.bytes || (found.mode & MODE) !== note.mode) return false;
    const bytes = contentOf(this.#place.upper, path, note.bytes);
    return bytes !== undefined && blake3Hex(bytes) === note.digest;
  }
}

function hasMark(directory: number, mark: "opaque" | "origin"): boolean {
  return overlayAttribute(`/proc/self/fd/${directory}/.`, mark) !== undefined;
}

/** Of `a/b/c` those are `a` and `a/b`. */
function directoriesAbove(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Does `work` in the directory at `path`, no link followed; nothing where there is none. */
function within<Result>(directory: number, path: string, work: (opened: number) => Result): Result | undefined {
  const opened = openBeneath(directory, path, DIRECTORY, "plain");
  if (opened < 0) return undefined;
  try {
    return work(opened);
  } finally {
    closeSync(opened);
  }
}

/** What has that path, no link followed. */
function standing(directory: number, path: string) {
  return within(directory, posix.dirname(path), (parent) =>
    lstatSync(`/proc/self/fd/${parent}/${posix.basename(path)}`, { throwIfNoEntry: false }),
  );
}

function isWhiteout(found: NonNullable<ReturnType<typeof standing>>): boolean {
  return found.isCharacterDevice() && found.rdev === 0;
}

/** What stands in the workspace; a file that is too large, and what nobody can open, is other. */
function standingIn(root: number, path: string): Standing {
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

function contentOf(directory: number, path: string, bytes: number): Buffer | undefined {
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
