/**
 * Writes lines to a file, and puts it aside when it is large.
 *
 * `FILE.1` is the newest of those that are kept.
 * Several kernels may write one file: each opens it anew once another one, or a program such as logrotate, has put it
 * aside. INVARIANTS: writing a line never waits and never throws. What waits is bounded; what does not fit, or cannot
 * be written, is counted, and said once until writing works again.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { MIB } from "../../base/bytes.ts";
import { errorCode } from "../../base/errors.ts";

/** Bytes of lines that wait to be written. */
const WAITING_BYTES_MAX = 4 * MIB;
/** Bytes that are written at once. */
const BATCH_BYTES_MAX = MIB;
/** Milliseconds after which a lock on rotation is that of a killed kernel. */
const LOCK_STALE_MS = 10_000;
/** Milliseconds between two tries while the file cannot be written. */
const RETRY_MS = 1000;
/** Only its owner reads it: it says who did what. */
const OWNER_ONLY = 0o600;

/** Where lines go. */
export interface LogFileParts {
  readonly path: string;
  /** Bytes from which on it is put aside. */
  readonly bytesMax: number;
  /** Files that are kept beside it. */
  readonly keep: number;
  /** Told once when writing begins to fail. */
  readonly onProblem: (message: string) => void;
  readonly retryMs?: number;
}

/** A log file. */
export class LogFile {
  readonly #parts: LogFileParts;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #handle: FileHandle | undefined;
  #failedMs: number | undefined;
  #isStuck = false;
  #dropped = 0;

  constructor(parts: LogFileParts) {
    this.#parts = parts;
  }

  /** Lines that were not written. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a line with its end. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    const retryMs = this.#parts.retryMs ?? RETRY_MS;
    const isPausing = this.#failedMs !== undefined && performance.now() - this.#failedMs < retryMs;
    if (isPausing || this.#waitingBytes + bytes > WAITING_BYTES_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Writes what waits, and closes the file. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // what comes in the same turn goes with it
    while (this.#waiting.length > 0) {
      const lines = this.#next();
      try {
        const handle = await this.#withRoom();
        await handle.appendFile(lines.join(""));
        this.#failedMs = undefined;
        await this.#putAside(handle);
      } catch (error) {
        this.#dropped += lines.length;
        await this.#fail(error);
      }
    }
  }

  /** The file that stands under the path now. */
  async #current(): Promise<FileHandle> {
    const { path } = this.#parts;
    const open_ = this.#handle;
    if (open_ !== undefined) {
      const [mine, standing] = await Promise.all([open_.stat(), statIfThere(path)]);
      if (standing?.ino === mine.ino && standing.dev === mine.dev) return open_;
      this.#handle = undefined;
      await open_.close();
    }
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const opened = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
    this.#handle = opened;
    return opened;
  }

  /** Lines that are written at once: no more than the file may hold. */
  #next(): readonly string[] {
    const bytesMax = Math.min(this.#parts.bytesMax, BATCH_BYTES_MAX);
    let bytes = 0;
    const past = this.#waiting.findIndex((line) => {
      bytes += Buffer.byteLength(line);
      return bytes > bytesMax;
    });
    const lines = this.#waiting.splice(0, past < 0 ? this.#waiting.length : Math.max(1, past));
    for (const line of lines) this.#waitingBytes -= Buffer.byteLength(line);
    return lines;
  }

  /** The file; one that cannot be put aside is written on to twice its size, and no further. */
  async #withRoom(): Promise<FileHandle> {
    const handle = await this.#current();
    if (!this.#isStuck) return handle;
    await this.#putAside(handle);
    const { size } = await handle.stat();
    if (this.#isStuck && size >= 2 * this.#parts.bytesMax)
      throw Object.assign(new Error("the log file is too large"), { code: "EFBIG" });
    return this.#current();
  }

  /** Puts the file aside if it is large; that it cannot be is said once. */
  async #putAside(handle: FileHandle): Promise<void> {
    try {
      await this.#rotate(handle);
    } catch (error) {
      if (!this.#isStuck) this.#say("cannot be put aside", error);
      this.#isStuck = true;
    }
  }

  /** Puts the file aside if it is large, and nobody else does. */
  async #rotate(handle: FileHandle): Promise<void> {
    const { path, bytesMax, keep } = this.#parts;
    const { size, ino } = await handle.stat();
    if (size < bytesMax) return;
    const lock = `${path}.lock`;
    if (!(await locked(lock))) return;
    try {
      const standing = await statIfThere(path);
      if (standing?.ino !== ino) this.#isStuck = false; // somebody else has put it aside meanwhile
      if (standing?.ino !== ino || !standing.isFile()) return;
      for (let number = keep - 1; number >= 1; number -= 1)
        await rename(`${path}.${number}`, `${path}.${number + 1}`).catch(unlessMissing);
      await rename(path, `${path}.1`);
      this.#isStuck = false;
    } finally {
      await rm(lock, { force: true });
    }
  }

  async #fail(error: unknown): Promise<void> {
    const isNew = this.#failedMs === undefined;
    this.#failedMs = performance.now();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined); // it cannot be written: nothing of it is lost by that
    if (isNew) this.#say("cannot be written", error);
  }

  #say(what: string, error: unknown): void {
    const next = "calls go on, and lines are lost while it cannot be written; make room, or mend its directory";
    this.#parts.onProblem(`the log \`${this.#parts.path}\` ${what} (${errorCode(error)}); ${next}`);
  }
}

/** Takes the lock on rotation; one that a killed kernel left is removed. */
async function locked(lock: string): Promise<boolean> {
  try {
    await (await open(lock, "wx", OWNER_ONLY)).close();
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const held = await statIfThere(lock);
    if (held !== undefined && Date.now() - held.mtimeMs > LOCK_STALE_MS) await rm(lock, { force: true });
    return false;
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    unlessMissing(error);
    return undefined;
  }
}

function unlessMissing(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw error;
}
