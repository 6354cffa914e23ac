/**
 * Defines the store of vectors beside an index: a service that keeps them, and finds those close to another.
 *
 * It gets no path and no text: a vector has a key by which the index knows its chunk.
 */
import { blake3Hex } from "../base/hash.ts";

/** Which chunk a vector is of: one that the index no longer has under this key has gone. */
export interface ChunkKey {
  /** Its number in the index. */
  readonly chunk: number;
  /** SHA-256 of the file's bytes, hexadecimal. */
  readonly sha256: string;
  readonly firstLine: number;
}

/** Names a file with these bytes, without its path. */
export function fileKey({ path, sha256 }: { readonly path: string; readonly sha256: string }): string {
  return blake3Hex(`${path}\n${sha256}`);
}

/** A vector to keep. */
export interface KeyedVector extends ChunkKey {
  /** The key of its file. */
  readonly file: string;
  readonly vector: Float32Array;
}

/** A chunk whose vector is close. */
export interface CloseKey extends ChunkKey {
  /** 1 at most. */
  readonly closeness: number;
}

/** Vectors of one index, made by one model. Methods throw ToolFailure while the service cannot be used. */
export interface VectorStore {
  /** Opens it, making it where there is none. @returns a name that is another one when it was made anew */
  readonly open: (signal: AbortSignal) => Promise<string>;
  readonly put: (vectors: readonly KeyedVector[], signal: AbortSignal) => Promise<void>;
  /** The closest, closest first. */
  readonly closest: (vector: Float32Array, count: number, signal: AbortSignal) => Promise<readonly CloseKey[]>;
  readonly remove: (keys: readonly ChunkKey[], signal: AbortSignal) => Promise<void>;
  /** Takes out every vector of the files with these keys. */
  readonly removeFiles: (files: readonly string[], signal: AbortSignal) => Promise<void>;
}
