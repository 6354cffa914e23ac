/**
 * Files of the content that stood in workspaces before calls changed it: `cas/before/ab/<hash>`.
 *
 * Not fsynced, because every change of a file would wait for it: content survives a killed process, and what a failure
 * of the machine's power spoils is found when it is read. INVARIANT: a file appears under its hash by rename, complete;
 * directories and files are the owner's alone.
 */
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { KIB } from "../../../base/bytes.ts";
import { errorCode } from "../../../base/errors.ts";
import { blake3Hex, type StreamingHash, streamingHash } from "../../../base/hash.ts";
import { HASH_PATTERN } from "../../../model/work/content.ts";
import { contentCorrupt, contentNotFound } from "../../../model/work/content-failures.ts";
import type { ContentWriter } from "../../../model/work/file-history.ts";
import { removeIfThere } from "./content-files.ts";

/** Bytes of a content that wait in memory to be known: what is stored already is not written again. */
const WAITING_BYTES_MAX = 256 * KIB;
const PIECE_BYTES = 256 * KIB;
const OWNER_ONLY_DIRECTORY = 0o700;
const READ_ONLY_FILE = 0o400;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Milliseconds for which content stays that nothing names: a change that will is about to be noted. */
const UNNAMED_MS = 10 * 60_000;

/** The files of one history. */
export class HistoryFiles {
  readonly #root: string;
  readonly #temporary: () => string;

  /** @param temporary gives paths of files in the making, which somebody removes after a killed kernel */
  constructor(stateDirectory: string, temporary: () => string) {
    this.#root = join(stateDirectory, "cas", "before");
    this.#temporary = temporary;
  }

  pathOf(content: string): string {
    return join(this.#root, content.slice(0, 2), content);
  }

  has(content: string): boolean {
    return HASH_PATTERN.test(content) && lstatSync(this.pathOf(content), { throwIfNoEntry: false })?.isFile() === true;
  }

  writer(): ContentWriter {
    return new Writer(this.#temporary(), (content) => this.pathOf(content));
  }

  *read(content: string): Generator<Uint8Array> {
    const descriptor = this.#open(content);
    try {
      const hash = streamingHash();
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      for (let length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece)) {
        const read = piece.subarray(0, length);
        hash.update(read);
        yield read;
      }
      if (hash.hex() !== content) throw contentCorrupt(content);
    } finally {
      closeSync(descriptor);
    }
  }

  #open(content: string): number {
    try {
      if (HASH_PATTERN.test(content)) return openSync(this.pathOf(content), READ);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    throw contentNotFound({ kind: "content", hash: content });
  }

  /** Removes content that nothing names, unless somebody is about to. @returns whether it is gone */
  remove(content: string, nowMs: number): boolean {
    const path = this.pathOf(content);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && nowMs - found.mtimeMs < UNNAMED_MS) return false;
    removeIfThere(path);
    return true;
  }

  /** All content that lies there. */
  *all(): Generator<string> {
    for (const shard of namesIn(this.#root))
      for (const name of namesIn(join(this.#root, shard))) if (HASH_PATTERN.test(name)) yield name;
  }
}

class Writer implements ContentWriter {
  readonly #path: string;
  readonly #placeOf: (content: string) => string;
  #hash: StreamingHash | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #descriptor: number | undefined;
  #isMade = false;

  constructor(path: string, placeOf: (content: string) => string) {
    this.#path = path;
    this.#placeOf = placeOf;
  }

  readonly write = (bytes: Uint8Array): void => {
    this.#hash ??= streamingHash();
    this.#hash.update(bytes);
    if (this.#descriptor === undefined && this.#waitingBytes + bytes.byteLength <= WAITING_BYTES_MAX) {
      this.#waiting.push(Buffer.from(bytes));
      this.#waitingBytes += bytes.byteLength;
      return;
    }
    writeAll(this.#opened(), bytes);
  };

  readonly whole = (bytes: Uint8Array): string => {
    this.#waiting = [Buffer.from(bytes)];
    return this.#end(blake3Hex(bytes));
  };

  readonly end = (): string => this.#end((this.#hash ?? streamingHash()).hex());

  #end(content: string): string {
    const place = this.#placeOf(content);
    if (this.#descriptor === undefined && isTouched(place)) return content;
    const descriptor = this.#opened();
    this.#descriptor = undefined;
    closeSync(descriptor);
    mkdirSync(dirname(place), { recursive: true, mode: OWNER_ONLY_DIRECTORY });
    renameSync(this.#path, place);
    this.#isMade = false;
    return content;
  }

  readonly discard = (): void => {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#waiting = [];
    if (this.#isMade) removeIfThere(this.#path);
    this.#isMade = false;
  };

  /** The file in the making, with what waited for it. */
  #opened(): number {
    if (this.#descriptor !== undefined) return this.#descriptor;
    mkdirSync(dirname(this.#path), { recursive: true, mode: OWNER_ONLY_DIRECTORY });
    this.#descriptor = openSync(this.#path, NEW_FILE, READ_ONLY_FILE);
    this.#isMade = true;
    for (const bytes of this.#waiting) writeAll(this.#descriptor, bytes);
    this.#waiting = [];
    return this.#descriptor;
  }
}

/** Says of a file that somebody needs it, so that no sweep takes it. @returns whether it is there */
function isTouched(path: string): boolean {
  const now = new Date();
  try {
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) done += writeSync(descriptor, bytes, done, bytes.byteLength - done);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
