/**
 * Gives the chunks of one index their vectors, in the background, and questions theirs.
 *
 * Vectors lie in the index, or in a service that the operator names. INVARIANTS: what a model is given has no secrets
 * in it, and that service gets no text. A model or service that cannot be reached costs answers their vectors and
 * nothing else; after a while it is asked again. Where an ended process left off, the next one goes on.
 */

import type { Embedder } from "../../knowledge/embedder.ts";
import { packedVector } from "../../knowledge/embedder.ts";
import type { IndexedFile } from "../../knowledge/knowledge-store.ts";
import { type ChunkKey, type CloseKey, fileKey, type VectorStore } from "../../knowledge/vector-store.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Passage, TextOfFile } from "./knowledge-messages.ts";
import type { KnowledgeThread } from "./knowledge-thread.ts";

/** Files whose chunks get vectors at once, and texts of one request. */
const FILES_AT_ONCE = 16;
const TEXTS_AT_ONCE = 32;
/** Milliseconds that a question waits for its vector. */
const QUESTION_MS = 2000;
/** Milliseconds for which a model or service that failed is left alone. */
const REST_MS = 10_000;
/** Files that have gone and whose vectors are to be taken out of the service; of more they go when they are found. */
const GONE_MAX = 10_000;

/** What makes vectors, and the service that keeps them, where there is one. */
export interface VectorMaker extends Embedder {
  readonly store?: VectorStore;
}

/** What vectors are made with. */
export interface EmbeddingParts {
  readonly thread: KnowledgeThread;
  readonly embedder: () => VectorMaker | undefined;
  /** The texts of those files without their secrets; none for what has gone or changed. */
  readonly textsOf: (paths: readonly string[]) => Promise<readonly TextOfFile[]>;
  readonly withoutSecrets: (text: string) => Promise<string>;
  readonly tell: (line: string) => void;
  readonly onInternalError: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** What a question is compared by: its vector, or what a service found close to it. */
export type QuestionMeaning = { readonly vector: Int8Array } | { readonly close: readonly CloseKey[] };

/** Vectors of one index. */
export class Embedding {
  readonly #parts: EmbeddingParts;
  readonly #gone = new Set<string>();
  #running: Promise<void> | undefined;
  #isComplete = false;
  #failedMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(parts: EmbeddingParts) {
    this.#parts = parts;
  }

  /** How far vectors are; nothing where the operator names no model. */
  get state(): "ready" | "building" | "unavailable" | undefined {
    if (this.#parts.embedder() === undefined) return undefined;
    if (this.#rests()) return "unavailable";
    return this.#isComplete ? "ready" : "building";
  }

  /** Why there are none now. */
  get problem(): string | undefined {
    return this.state === "unavailable" ? this.#problem : undefined;
  }

  /** When nothing runs any more; the signal ends what does. */
  get ended(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Gives vectors to all chunks that have none; at once where it is at it. */
  run(): Promise<void> {
    const embedder = this.#parts.embedder();
    if (embedder === undefined || this.#rests()) return Promise.resolve();
    this.#running ??= this.#all(embedder)
      .then(() => this.#succeeded())
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** What a question means; nothing where there is no model, or model or service do not answer now. */
  async ofQuestion(text: string, count: number): Promise<QuestionMeaning | undefined> {
    const embedder = this.#parts.embedder();
    if (embedder === undefined || this.#rests()) return undefined;
    const signal = AbortSignal.any([this.#parts.signal, AbortSignal.timeout(QUESTION_MS)]);
    try {
      const [vector] = await embedder.embed([await this.#parts.withoutSecrets(text)], signal);
      if (vector === undefined) return undefined;
      if (embedder.store === undefined) return { vector: packedVector(vector) };
      return { close: await embedder.store.closest(vector, count, signal) };
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  /** These files have gone, or have other bytes now. */
  forget(files: readonly IndexedFile[]): void {
    if (this.#parts.embedder()?.store === undefined) return;
    for (const file of files) if (this.#gone.size < GONE_MAX) this.#gone.add(fileKey(file));
  }

  /** The service has vectors of chunks that the index no longer has. */
  takeOut(keys: readonly ChunkKey[]): void {
    const store = this.#parts.embedder()?.store;
    if (store === undefined || keys.length === 0 || this.#rests()) return;
    store.remove(keys, this.#parts.signal).catch((error: unknown) => this.#failed(error));
  }

  async #all(embedder: VectorMaker): Promise<void> {
    const { thread, textsOf, signal } = this.#parts;
    const { store } = embedder;
    const place = await store?.open(signal);
    const model = place === undefined ? embedder.name : `${embedder.name}@${place}`;
    if (store !== undefined) await this.#takeOutGone(store);
    const tried = new Set<string>();
    for (;;) {
      const { paths, dropped } = await thread.ask({ kind: "unembedded", model });
      if (dropped)
        this.#parts.tell("the vectors of the workspace's index are made anew: they were another model's or store's");
      const next = paths.filter((path) => !tried.has(path)).slice(0, FILES_AT_ONCE);
      if (next.length === 0) break; // what is left has changed meanwhile, and comes with the next look at files
      this.#isComplete = false;
      for (const path of next) tried.add(path);
      const passages = await thread.ask({ kind: "passages", files: await textsOf(next) });
      for (let at = 0; at < passages.length; at += TEXTS_AT_ONCE) {
        signal.throwIfAborted();
        await this.#embed(embedder, model, passages.slice(at, at + TEXTS_AT_ONCE));
      }
    }
    this.#isComplete = true;
  }

  async #embed(embedder: VectorMaker, model: string, passages: readonly Passage[]): Promise<void> {
    const { thread, signal } = this.#parts;
    const made = await embedder.embed(
      passages.map(({ text }) => text),
      signal,
    );
    const vectors = passages.flatMap(({ text: _, ...key }, index) => {
      const vector = made[index];
      return vector === undefined ? [] : [{ ...key, vector }];
    });
    await embedder.store?.put(vectors, signal);
    // A chunk whose vector lies elsewhere is marked by an empty one, only once it lies there.
    const packed = (vector: Float32Array) => (embedder.store === undefined ? packedVector(vector) : new Int8Array());
    const marks = vectors.map(({ chunk, vector }) => ({ chunk, vector: packed(vector) }));
    await thread.ask({ kind: "embed", model, vectors: marks });
  }

  async #takeOutGone(store: VectorStore): Promise<void> {
    const gone = [...this.#gone];
    if (gone.length === 0) return;
    await store.removeFiles(gone, this.#parts.signal);
    for (const each of gone) this.#gone.delete(each);
  }

  #rests(): boolean {
    return performance.now() - this.#failedMs < REST_MS;
  }

  #succeeded(): void {
    if (this.#problem !== undefined) this.#parts.tell("questions to the workspace are answered by meaning again");
    this.#problem = undefined;
    this.#failedMs = Number.NEGATIVE_INFINITY;
  }

  #failed(error: unknown): void {
    if (this.#parts.signal.aborted) return;
    const isFirst = this.#problem === undefined;
    this.#failedMs = performance.now();
    const isExpected = error instanceof ToolFailure || error instanceof DOMException;
    this.#problem = isExpected ? error.message : "an internal error";
    if (!isExpected) this.#parts.onInternalError(error);
    else if (isFirst)
      this.#parts.tell(`questions to the workspace are answered by words alone for now: ${error.message}`);
  }
}
