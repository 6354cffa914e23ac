/** Defines the store of an index: its files, and which of their chunks hold the terms of a question. */
import type { Chunk } from "./chunk.ts";
import type { CloseKey } from "./vector-store.ts";

/** A file as it was when it was indexed. */
export interface IndexedFile {
  /** From the root of the index, with `/`. */
  readonly path: string;
  /** SHA-256 of its bytes, hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** When it was last changed, milliseconds since the Unix epoch. */
  readonly changedMs: number;
}

/** A chunk with the terms that it is found by, one space between two. */
export interface IndexedChunk extends Chunk {
  readonly symbolTerms: string;
  /** Of its title and of the file's path. */
  readonly titleTerms: string;
  readonly bodyTerms: string;
}

/** A file with its chunks. */
export interface FileOfChunks extends IndexedFile {
  readonly chunks: readonly IndexedChunk[];
}

/** A chunk that was found. */
export interface FoundChunk extends Omit<Chunk, "symbols"> {
  readonly path: string;
  /** Higher is better. */
  readonly score: number;
}

/** A chunk without a vector. */
export interface BareChunk {
  readonly chunk: number;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly title: string;
}

/** The vector of a chunk, by its number; an empty one where another store keeps it. */
export interface ChunkVector {
  readonly chunk: number;
  readonly vector: Int8Array;
}

/** How much is in an index. */
export interface IndexCounts {
  readonly files: number;
  readonly chunks: number;
}

/** The index of one workspace. Not safe for several threads. */
export interface KnowledgeStore {
  /** All files, in the order of their paths. */
  readonly files: () => readonly IndexedFile[];
  /** Puts files in, in place of what was there under their paths; in one transaction. */
  readonly put: (files: readonly FileOfChunks[]) => void;
  /** Takes files out; in one transaction. */
  readonly remove: (paths: readonly string[]) => void;
  /** The best chunks that hold any of `terms`, best first. */
  readonly find: (terms: readonly string[], count: number) => readonly FoundChunk[];
  /** The chunks whose vectors are closest to `vector`, closest first. */
  readonly findClose: (vector: Int8Array, count: number) => readonly FoundChunk[];
  /** The chunks of keys, in their order; `undefined` for one that has gone. */
  readonly located: (keys: readonly CloseKey[]) => readonly (FoundChunk | undefined)[];
  /**
   * Files with chunks that have no vector of `model`; those of other models are dropped first.
   */
  readonly unembedded: (model: string) => { readonly paths: readonly string[]; readonly dropped: boolean };
  /** The numbers and lines of the chunks of a file, if it is in the index with these bytes, that have no vector. */
  readonly bareChunks: (file: Pick<IndexedFile, "path" | "sha256">) => readonly BareChunk[];
  /** Puts vectors of `model` in for chunks that are still there. */
  readonly embed: (model: string, vectors: readonly ChunkVector[]) => void;
  readonly counts: () => IndexCounts;
  /** Changes whenever somebody else changes the index. */
  readonly version: () => number;
  /** Takes everything out. */
  readonly clear: () => void;
  /** Writes the index, as it is now, into a file that does not exist yet. */
  readonly exportTo: (file: string) => Promise<void>;
  /** Puts an exported index in place of this one, which stays where the file is none. @throws KernelError USAGE */
  readonly importFrom: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
