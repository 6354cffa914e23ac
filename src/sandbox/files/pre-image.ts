/**
 * Reads a file's pre-image before a call changes it.
 *
 * The pre-image is the place that the path leads to, and the digest of what is there.
 *
 * INVARIANT: the file is found as a write would find it, judged where it really lies, and read through the descriptor
 * that was found. The bytes go into the digest and nowhere else.
 */
import { closeSync } from "node:fs";
import { streamingHash } from "../../base/hash.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import { notAFile, quoted, throwIfCancelled, translated } from "./places/failures.ts";
import { type FileScope, find, kindOf } from "./places/open.ts";
import { FILE_CHUNK_BYTES, type OpenFile, openForReading, readInSteps } from "./read.ts";

/** A file as it is: `content` is the BLAKE3-256 of its bytes (64 hexadecimal digits), absent when there is no file. */
export interface PreImage {
  readonly place: WorkspacePath;
  readonly content?: string;
}

/**
 * The pre-image of the file that `path` names for writing.
 * @throws Refusal where a write would be refused; ToolFailure for what is no regular file or has more than `bytesMax`
 * bytes
 */
export async function readPreImage(
  scope: FileScope,
  path: string,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<PreImage> {
  throwIfCancelled(signal);
  try {
    const found = find(scope, path, ["write"]);
    if (found.kind === "missing") return { place: found.place };
    try {
      if (!found.stats.isFile()) throw notAFile(path, kindOf(found.stats));
      if (found.stats.size > bytesMax) throw tooLarge(path, bytesMax);
      return {
        place: found.place,
        content: await contentDigest({ descriptor: found.descriptor, path }, bytesMax, signal),
      };
    } finally {
      closeSync(found.descriptor);
    }
  } catch (error) {
    throw translated(error, path);
  }
}

/** BLAKE3-256 of a file whose descriptor is an `O_PATH` one. */
export async function contentDigest(
  { descriptor, path }: OpenFile,
  bytesMax: number,
  signal: AbortSignal,
): Promise<string> {
  const opened = openForReading(descriptor, path);
  try {
    return await digestOf({ descriptor: opened, path }, bytesMax, signal);
  } finally {
    closeSync(opened);
  }
}

async function digestOf(file: OpenFile, bytesMax: number, signal: AbortSignal): Promise<string> {
  const hash = streamingHash();
  for (let offset = 0; ; ) {
    throwIfCancelled(signal);
    const part = await readInSteps(file, { offset, length: FILE_CHUNK_BYTES }, signal);
    if (part.byteLength === 0) return hash.hex();
    hash.update(part);
    offset += part.byteLength;
    if (offset > bytesMax) throw tooLarge(file.path, bytesMax);
  }
}

function tooLarge(path: string, bytesMax: number): ToolFailure {
  const message = `${quoted(path)} has more than ${bytesMax} bytes, so nobody can approve a change of it`;
  return new ToolFailure("FILE_TOO_LARGE", message, "ask a person to change the file");
}
