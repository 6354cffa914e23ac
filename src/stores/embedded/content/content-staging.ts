/**
 * Receiving bytes: into a temporary file, hashed on the way, fsynced at the end.
 *
 * Decides whether the bytes are those that were announced and whether they are few enough. INVARIANT: memory is bounded
 * by two blocks an upload; uploads, which come at a stranger's pace, never keep the kernel's own results from being
 * stored, nor those of one sender all others; a failed or unfinished upload leaves no file.
 */
import { close, fdatasync, write as writeWithCallback } from "node:fs";
import { promisify } from "node:util";
import { BlockHasher, type ContentDigest, inBlocks } from "../../../base/block-hashes.ts";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";
import { CONTENT_BYTES_MAX } from "../../../base/limits.ts";
import type { AnnouncedContent } from "../../../cas/content-store.ts";
import {
  contentBusy,
  contentCancelled,
  contentMismatch,
  contentStoreFull,
  contentTooLarge,
} from "../../../model/work/content-failures.ts";
import { type ContentFiles, removeIfThere } from "./content-files.ts";

/** Uploads that one kernel receives at once: each holds a block and a temporary file. */
export const CONTENT_STAGED_MAX = 32;
/** Uploads of one principal at once: a quarter of them all, so that nobody keeps others from storing. */
export const CONTENT_STAGED_PER_SENDER_MAX = 8;
/**
 * Results of calls that one kernel stores at once; uploads take none of their places, because they come at a stranger's
 * pace.
 */
const CONTENT_RESULTS_STAGED_MAX = 32;

const writeAsync = promisify(writeWithCallback);
const syncAsync = promisify(fdatasync);
const closeAsync = promisify(close);

/** Bytes between two requests to write out what the page cache holds: the disk works while more bytes come. */
const FLUSH_BYTES = 16 * 1024 * 1024;

/** Who sends what nobody uploads. */
const KERNEL = "";

/** Bytes that were received, in their temporary file. */
export interface StagedFile {
  readonly digest: ContentDigest;
  /** Gives the file to `move`, which renames it; afterwards there is nothing left to discard. */
  readonly moveTo: (move: (temporary: string) => void) => void;
  readonly discard: () => void;
}

/** The uploads of one kernel instance. */
export class StagingArea {
  readonly #newPath: () => string;
  readonly #files: ContentFiles;
  readonly #paths = new Set<string>();
  /** How many are being received at once, by sender; the kernel itself has no name. */
  readonly #receiving = new Map<string, number>();

  constructor(newPath: () => string, files: ContentFiles) {
    this.#newPath = newPath;
    this.#files = files;
  }

  /**
   * Receives everything that `chunks` yield.
   * @throws ToolFailure CONTENT_MISMATCH, CONTENT_TOO_LARGE, RESOURCE_BUSY, DISK_FULL or CANCELLED, or whatever
   * `chunks`
   *   throw; KernelError STORE_UNAVAILABLE
   */
  async receive(
    chunks: AsyncIterable<Uint8Array>,
    announced: AnnouncedContent,
    signal: AbortSignal,
  ): Promise<StagedFile> {
    if ((announced.sizeBytes ?? 0) > CONTENT_BYTES_MAX) throw contentTooLarge();
    const leave = this.#enter(announced.sender ?? KERNEL);
    const path = this.#newPath();
    this.#paths.add(path);
    try {
      const digest = await this.#write(path, chunks, { ...announced, signal });
      requireAnnounced(digest, announced);
      return this.#staged(path, digest);
    } catch (error) {
      this.#forget(path);
      throw error;
    } finally {
      leave();
    }
  }

  /** Takes one of the places that `sender` may have; the answer gives it back. */
  #enter(sender: string): () => void {
    const own = this.#receiving.get(sender) ?? 0;
    if (own >= (sender === KERNEL ? CONTENT_RESULTS_STAGED_MAX : CONTENT_STAGED_PER_SENDER_MAX)) throw contentBusy();
    if (sender !== KERNEL && this.#uploads() >= CONTENT_STAGED_MAX) throw contentBusy();
    this.#receiving.set(sender, own + 1);
    return () => {
      const left = (this.#receiving.get(sender) ?? 1) - 1;
      if (left > 0) this.#receiving.set(sender, left);
      else this.#receiving.delete(sender);
    };
  }

  #uploads(): number {
    let uploads = 0;
    for (const [sender, count] of this.#receiving) if (sender !== KERNEL) uploads += count;
    return uploads;
  }

  /** Removes everything that was received and not stored. */
  discardAll(): void {
    for (const path of [...this.#paths]) this.#forget(path);
  }

  #staged(path: string, digest: ContentDigest): StagedFile {
    return {
      digest,
      moveTo: (move) => {
        if (!this.#paths.has(path)) return; // it is in place already
        atDisk(() => move(path));
        this.#paths.delete(path);
      },
      discard: () => {
        if (this.#paths.has(path)) this.#forget(path);
      },
    };
  }

  #forget(path: string): void {
    this.#paths.delete(path);
    removeIfThere(path);
  }

  async #write(
    path: string,
    chunks: AsyncIterable<Uint8Array>,
    { sizeBytes = CONTENT_BYTES_MAX, signal }: AnnouncedContent & { readonly signal: AbortSignal },
  ): Promise<ContentDigest> {
    const descriptor = atDisk(() => this.#files.createTemporary(path));
    const hasher = new BlockHasher();
    const flushing = new Flushing(descriptor);
    let size = 0;
    try {
      for await (const block of inBlocks(chunks)) {
        if (signal.aborted) throw contentCancelled();
        if (size + block.byteLength > CONTENT_BYTES_MAX) throw contentTooLarge();
        if (size + block.byteLength > sizeBytes) throw longerThanAnnounced();
        const writing = writeFully(descriptor, block, size);
        hasher.add(block); // while the block is being written
        await writing;
        size += block.byteLength;
        flushing.wrote(size);
      }
      if (signal.aborted) throw contentCancelled();
      await flushing.end();
      return hasher.digest();
    } finally {
      await flushing.settled();
      await closeAsync(descriptor);
    }
  }
}

/** Asks the disk now and then to take what was written, one request at a time, and waits for all of it at the end. */
class Flushing {
  readonly #descriptor: number;
  #askedAt = 0;
  #asked: Promise<void> | undefined;
  #failed: unknown;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  wrote(sizeBytes: number): void {
    if (this.#asked !== undefined || sizeBytes - this.#askedAt < FLUSH_BYTES) return;
    this.#askedAt = sizeBytes;
    this.#asked = syncAsync(this.#descriptor)
      .catch((error: unknown) => {
        // told at the end: a failed fsync may not be repeated, because the next one can succeed falsely
        this.#failed = error;
      })
      .then(() => {
        this.#asked = undefined;
      });
  }

  async end(): Promise<void> {
    await this.settled();
    if (this.#failed !== undefined) throw diskError(this.#failed);
    await syncAsync(this.#descriptor).catch((error: unknown) => {
      throw diskError(error);
    });
  }

  async settled(): Promise<void> {
    await this.#asked;
  }
}

async function writeFully(descriptor: number, block: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < block.byteLength) {
    const { bytesWritten } = await writeAsync(descriptor, block, done, block.byteLength - done, position + done).catch(
      (error: unknown) => {
        throw diskError(error);
      },
    );
    done += bytesWritten;
  }
}

function requireAnnounced(digest: ContentDigest, announced: AnnouncedContent): void {
  if (announced.sizeBytes !== undefined && announced.sizeBytes !== digest.sizeBytes)
    throw contentMismatch(`${announced.sizeBytes} bytes were announced and ${digest.sizeBytes} came`);
  if (announced.hash !== undefined && announced.hash !== digest.hash)
    throw contentMismatch(
      `the hash \`${announced.hash}\` was announced, and the bytes that came have the hash \`${digest.hash}\``,
    );
}

function longerThanAnnounced(): Error {
  return contentMismatch("more bytes came than were announced");
}

/** Runs a file operation; what it throws says what to do. */
export function atDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskError(error);
  }
}

/** A failed file operation in words. */
function diskError(error: unknown): unknown {
  const code = errorCode(error);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") return contentStoreFull(error);
  if (code === "unknown") return error;
  return storeUnavailable(
    `the content store cannot be written (${code}); check the disk of the state directory`,
    error,
  );
}
