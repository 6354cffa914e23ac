/**
 * Gives the chunks of one index their vectors, in the background, and questions theirs.
 *
 * INVARIANTS: what a model is given has no secrets in it. A model that cannot be reached costs answers their vectors
 * and nothing else; after a while it is asked again. Where an ended process left off, the next one goes on.
 */

import type { Embedder } from "../../knowledge/embedder.ts";
import { packedVector } from "../../knowledge/embedder.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { TextOfFile } from "./knowledge-messages.ts";
import type { KnowledgeThread } from "./knowledge-thread.ts";

/** Files whose chunks get vectors at once, and texts of one request. */
const FILES_AT_ONCE = 16;
const TEXTS_AT_ONCE = 32;
/** Milliseconds that a question waits for its vector. */
const QUESTION_MS = 2000;
/** Milliseconds for which a model that failed is left alone. */
const REST_MS = 10_000;

/** What vectors are made with. */
export interface EmbeddingParts {
  readonly thread: KnowledgeThread;
  readonly embedder: () => Embedder | undefined;
  /** The texts of those files without their secrets; none for what has gone or changed. */
  readonly textsOf: (paths: readonly string[]) => Promise<readonly TextOfFile[]>;
  readonly withoutSecrets: (text: string) => Promise<string>;
  readonly tell: (line: string) => void;
  readonly onInternalError: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Vectors of one index. */
export class Embedding {
  readonly #parts: EmbeddingParts;
  #running: Promise<void> | undefined;
  #isComplete = false;
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: EmbeddingParts) {
    this.#parts = parts;
  }

  /** How far vectors are; nothing where the operator names no model. */
  get state(): "ready" | "building" | "unavailable" | undefined {
    if (this.#parts.embedder() === undefined) return undefined;
    if (this.#rests()) return "unavailable";
    return this.#isComplete ? "ready" : "building";
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
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** The vector of a question; nothing where there is no model, or it does not answer now. */
  async ofQuestion(text: string): Promise<Int8Array | undefined> {
    const embedder = this.#parts.embedder();
    if (embedder === undefined || this.#rests()) return undefined;
    const signal = AbortSignal.any([this.#parts.signal, AbortSignal.timeout(QUESTION_MS)]);
    try {
      const [vector] = await embedder.embed([await this.#parts.withoutSecrets(text)], signal);
      return vector && packedVector(vector);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  async #all(embedder: Embedder): Promise<void> {
    const { thread, textsOf, signal } = this.#parts;
    const tried = new Set<string>();
    for (;;) {
      const { paths, dropped } = await thread.ask({ kind: "unembedded", model: embedder.name });
      if (dropped) this.#parts.tell("the vectors of the workspace's index are made anew: they were another model's");
      const next = paths.filter((path) => !tried.has(path)).slice(0, FILES_AT_ONCE);
      if (next.length === 0) break; // what is left has changed meanwhile, and comes with the next look at files
      this.#isComplete = false;
      for (const path of next) tried.add(path);
      const passages = await thread.ask({ kind: "passages", files: await textsOf(next) });
      for (let at = 0; at < passages.length; at += TEXTS_AT_ONCE) {
        signal.throwIfAborted();
        const some = passages.slice(at, at + TEXTS_AT_ONCE);
        const made = await embedder.embed(
          some.map(({ text }) => text),
          signal,
        );
        const vectors = some.flatMap(({ chunk }, index) => {
          const vector = made[index];
          return vector === undefined ? [] : [{ chunk, vector: packedVector(vector) }];
        });
        await thread.ask({ kind: "embed", model: embedder.name, vectors });
      }
    }
    this.#isComplete = true;
    this.#failedMs = Number.NEGATIVE_INFINITY;
  }

  #rests(): boolean {
    return performance.now() - this.#failedMs < REST_MS;
  }

  #failed(error: unknown): void {
    if (this.#parts.signal.aborted) return;
    const isFirst = this.#failedMs === Number.NEGATIVE_INFINITY;
    this.#failedMs = performance.now();
    if (!(error instanceof ToolFailure) && !(error instanceof DOMException)) this.#parts.onInternalError(error);
    else if (isFirst)
      this.#parts.tell(`questions to the workspace are answered by words alone for now: ${error.message}`);
  }
}
