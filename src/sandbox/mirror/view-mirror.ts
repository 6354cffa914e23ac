/**
 * Shows in the view of a running command what Handrail's own calls change in the workspace meanwhile.
 *
 * An overlay remembers names: what is saved below by renaming is seen late or never, and no watcher hears of it. So the
 * file is written once more, through the overlay, as the command itself would write it, and what was written is noted.
 * Where the view still holds just that when it lands, it is nobody's change.
 *
 * INVARIANTS: what the command changed itself is left alone; no link is followed, and nothing is written but regular
 * files; what is written here never lands. While the overlay copies a file that a command moves, its directory is
 * closed to others, so it runs in a thread of its own.
 */
import { closeSync, constants, fchmodSync, fstatSync, writeSync } from "node:fs";
import { posix } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { blake3Hex } from "../../base/hash.ts";
import { asFileUser, type FileUser, setTimes } from "../native/layer-calls.ts";
import { errno, makeDirectory, openBeneath, removeName } from "../native/syscalls.ts";
import { isAsNoted, MODE, type Note } from "./note.ts";
import { hasMark, isWhiteout, type Standing, standing, standingIn, within } from "./standing.ts";

/** Bytes that stand in one view because they were passed on to it. */
const PASSED_ON_BYTES_TOTAL_MAX = 64 * MIB;
/** Paths of one view that are noted; each costs memory until its command has ended. */
const NOTES_MAX = 10_000;

/** Without its old bytes: the overlay would copy those from a file that somebody else may hold. */
const OVERWRITE = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OWN_FILE = 0o600;
const RIGHTS = 0o777;

/** Where what is passed on comes from and goes to; the descriptors are open. */
export interface MirrorPlace {
  /** The workspace. */
  readonly root: number;
  /** The overlay as the command writes in it, but without the mounts upon it. */
  readonly merged: number;
  /** What the command has changed. */
  readonly upper: number;
  /** Whose the files are that a command makes, where that is not the kernel's user. */
  readonly user: FileUser | undefined;
}

/** The mirror of one view. */
export class ViewMirror {
  readonly #place: MirrorPlace;
  readonly #notes = new Map<string, Note>();
  #bytes = 0;

  constructor(place: MirrorPlace) {
    this.#place = place;
  }

  /** Shows what stands at `path` of the workspace by now. It may wait for as long as the command holds the place. */
  show(path: string): void {
    if (this.#notes.size >= NOTES_MAX && !this.#notes.has(path)) return;
    try {
      this.#show(path);
    } catch (error) {
      // the view has no room, or the command was quicker: it does not see this change, as if nothing were passed on
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  /** What stands in the view because it was passed on, by its path. */
  get notes(): ReadonlyMap<string, Note> {
    return this.#notes;
  }

  #show(path: string): void {
    const { root } = this.#place;
    const above = directoriesAbove(path);
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
    return note !== undefined && isAsNoted(this.#place.upper, path, note);
  }
}

/** Of `a/b/c` those are `a` and `a/b`. */
export function directoriesAbove(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
