/** Defines the messages between a workspace's knowledge and the thread that keeps its index. */
import type { ChunkVector, FoundChunk, IndexCounts, IndexedFile } from "../../knowledge/knowledge-store.ts";
import type { ChunkKey, CloseKey } from "../../knowledge/vector-store.ts";

/** What the thread is started with. */
export interface KnowledgeWorkerData {
  /** Where the index lies. */
  readonly directory: string;
}

/** A file to index: its text holds no secret any more. */
export interface TextOfFile extends IndexedFile {
  readonly text: string;
}

/** What is embedded of a chunk. */
export interface Passage extends ChunkKey {
  /** The key of its file. */
  readonly file: string;
  readonly text: string;
}

/** What the thread is asked for. */
export type KnowledgeRequest =
  | { readonly kind: "files" }
  | { readonly kind: "put"; readonly files: readonly TextOfFile[] }
  | { readonly kind: "remove"; readonly paths: readonly string[] }
  | {
      readonly kind: "find";
      readonly terms: readonly string[];
      readonly count: number;
      /** Of the whole question; without one it is answered by words alone. */
      readonly vector?: Int8Array;
      /** What another store found close to it. */
      readonly close?: readonly CloseKey[];
    }
  | { readonly kind: "unembedded"; readonly model: string }
  | { readonly kind: "passages"; readonly files: readonly TextOfFile[] }
  | { readonly kind: "embed"; readonly model: string; readonly vectors: readonly ChunkVector[] }
  | { readonly kind: "version" }
  | { readonly kind: "clear" }
  | { readonly kind: "counts" }
  | { readonly kind: "export"; readonly file: string }
  | { readonly kind: "import"; readonly file: string }
  | { readonly kind: "close" };

/** What it answers to each. */
export interface KnowledgeAnswers {
  readonly files: { readonly files: readonly IndexedFile[]; readonly rebuilt: boolean };
  readonly put: IndexCounts;
  readonly remove: IndexCounts;
  /** What was found, and the keys of chunks that have gone. */
  readonly find: { readonly chunks: readonly FoundChunk[]; readonly gone: readonly ChunkKey[] };
  /** Files with chunks that have no vector of that model, and whether those of another model were dropped. */
  readonly unembedded: { readonly paths: readonly string[]; readonly dropped: boolean };
  /** What is embedded for each chunk that has no vector yet. */
  readonly passages: readonly Passage[];
  readonly embed: undefined;
  readonly version: number;
  readonly clear: IndexCounts;
  readonly counts: IndexCounts;
  readonly export: IndexCounts;
  readonly import: IndexCounts;
  readonly close: undefined;
}

/** A request with its number. */
export interface NumberedRequest {
  readonly id: number;
  readonly request: KnowledgeRequest;
}

/**
 * The answer to the request of that number, or why there is none; `isUsage`: what was asked for cannot be; `isRemade`:
 * the index turned out to be damaged, and is empty now.
 */
export type NumberedAnswer =
  | { readonly id: number; readonly answer: KnowledgeAnswers[KnowledgeRequest["kind"]] }
  | { readonly id: number; readonly problem: string; readonly isUsage: boolean; readonly isRemade: boolean };
