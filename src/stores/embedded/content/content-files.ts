/**
 * Manages the files of stored content.
 *
 * Objects lie at `cas/ab/cd/<hash>`, uploads in `cas/temporary/`, altered objects in `cas/quarantine/`. This module
 * knows paths and durable file operations, and nothing of rows.
 *
 * INVARIANT: a file appears under its hash by rename, complete and fsynced.
 *
 * INVARIANT: every directory and file is the owner's alone, and objects are not writable.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../../../base/errors.ts";
import { CONTENT_SCANNED_MAX } from "../../../base/limits.ts";
import { HASH_PATTERN } from "../../../model/work/content.ts";
import { syncDirectory } from "../state/state-directory.ts";

/** Temporary files looked at when a store is opened. */
const CONTENT_TEMPORARIES_MAX = 4096;

const OWNER_ONLY_DIRECTORY = 0o700;
const READ_ONLY_FILE = 0o400;
const SHARD_PATTERN = /^[0-9a-f]{2}$/;

/** The files of one content store. */
export class ContentFiles {
  readonly #root: string;

  constructor(stateDirectory: string) {
    this.#root = join(stateDirectory, "cas");
  }

  /** Makes the directories that are always there. */
  prepare(): void {
    for (const name of ["temporary", "quarantine"]) makeDurably(join(this.#root, name));
  }

  /** Where the object of `hash` lies. */
  pathOf(hash: string): string {
    return join(this.#root, hash.slice(0, 2), hash.slice(2, 4), hash);
  }

  /** A name for an upload of a kernel instance. */
  temporaryPath(instanceId: string, random: string): string {
    return join(this.#root, "temporary", `${instanceId}.${random}`);
  }

  /** Opens a new file for an upload. */
  createTemporary(path: string): number {
    return openSync(
      path,
      constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_NOFOLLOW,
      READ_ONLY_FILE,
    );
  }

  /** Makes the directories that the object of `hash` needs. */
  prepareFor(hash: string): void {
    makeDurably(dirname(this.pathOf(hash)));
  }

  /** Puts a complete, fsynced upload in its place; whatever was there is replaced. */
  place(temporary: string, hash: string): void {
    const path = this.pathOf(hash);
    renameSync(temporary, path);
    syncDirectory(dirname(path));
  }

  /** Opens an object for reading; `undefined` when it is not there or is no regular file. */
  open(hash: string): { readonly descriptor: number; readonly stats: Stats } | undefined {
    let descriptor: number;
    try {
      descriptor = openSync(this.pathOf(hash), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (errorCode(error) === "ENOENT" || errorCode(error) === "ELOOP") return undefined;
      throw error;
    }
    const stats = fstatSync(descriptor);
    if (stats.isFile()) return { descriptor, stats };
    closeSync(descriptor);
    return undefined;
  }

  /**
   * Puts an altered object aside, unless its place was taken by another file since `seen` was opened, or since nothing
   * that could be read was there.
   */
  quarantine(hash: string, seen: Pick<Stats, "ino" | "dev"> | undefined, random: string): boolean {
    const path = this.pathOf(hash);
    const now = lstatOf(path);
    if (now === undefined) return seen === undefined;
    if (seen === undefined && now.isFile()) return false;
    if (seen !== undefined && (now.ino !== seen.ino || now.dev !== seen.dev)) return false;
    renameSync(path, join(this.#root, "quarantine", `${hash}.${random}`));
    syncDirectory(dirname(path));
    return true;
  }

  /** Removes an object's file, if it is there. */
  remove(hash: string): void {
    removeIfThere(this.pathOf(hash));
  }

  /** The hashes of all files that are named like objects, with the time they were last changed. */
  *objects(): Generator<{ readonly hash: string; readonly changedAtMs: number }> {
    let scanned = 0;
    for (const first of shards(this.#root)) {
      for (const second of shards(join(this.#root, first))) {
        for (const hash of names(join(this.#root, first, second))) {
          scanned += 1;
          if (scanned > CONTENT_SCANNED_MAX) return;
          const stats = HASH_PATTERN.test(hash) ? lstatOf(this.pathOf(hash)) : undefined;
          if (stats) yield { hash, changedAtMs: stats.mtimeMs };
        }
      }
    }
  }

  /** Uploads that are there, with the instance that made each and the time it was last written. */
  *temporaries(): Generator<{ readonly path: string; readonly instanceId: string; readonly changedAtMs: number }> {
    let scanned = 0;
    for (const name of names(join(this.#root, "temporary"))) {
      scanned += 1;
      if (scanned > CONTENT_TEMPORARIES_MAX) return;
      const path = join(this.#root, "temporary", name);
      const stats = lstatOf(path);
      if (stats) yield { path, instanceId: name.slice(0, name.indexOf(".")), changedAtMs: stats.mtimeMs };
    }
  }
}

/** Removes a file that may be gone already. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Makes a directory and those above it, and fsyncs the one that each new one stands in. */
function makeDurably(path: string): void {
  if (existsSync(path)) return;
  const first = mkdirSync(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

function lstatOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function shards(path: string): string[] {
  return [...names(path)].filter((name) => SHARD_PATTERN.test(name));
}

function* names(path: string): Generator<string> {
  let directory: ReturnType<typeof opendirSync>;
  try {
    directory = opendirSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry.name;
  } finally {
    directory.closeSync();
  }
}
