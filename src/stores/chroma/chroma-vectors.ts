/**
 * Keeps the vectors of one index in ChromaDB, by its HTTP interface, version 2.
 *
 * Chroma gets vectors and keys, and neither texts nor paths. INVARIANTS: what it answers is checked before it is used;
 * a collection that was lost is made anew, under another name for the index, so that all vectors are made again.
 */
import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { ChunkKey, CloseKey, KeyedVector, VectorStore } from "../../knowledge/vector-store.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";

/** Keys of one request. */
const KEYS_MAX = 500;
/** Vectors that are asked for at once: what Chroma answers without a setting of its own. */
const CLOSEST_MAX = 300;

const collection = z.object({ id: z.uuid() });
const closest = z.object({
  ids: z.tuple([z.array(z.string().max(200)).max(CLOSEST_MAX)]),
  distances: z.tuple([z.array(z.number()).max(CLOSEST_MAX)]),
});

/** How Chroma is asked. */
export interface ChromaParts {
  /** Sends one request below its database. @throws ToolFailure */
  readonly ask: (path: string, body: JsonObject, signal: AbortSignal) => Promise<unknown>;
  /** The collection's name: letters, digits and `-`. */
  readonly collection: string;
}

/** Vectors in one collection. */
export class ChromaVectors implements VectorStore {
  readonly #parts: ChromaParts;
  #id: string | undefined;

  constructor(parts: ChromaParts) {
    this.#parts = parts;
  }

  async open(signal: AbortSignal): Promise<string> {
    // Asked each time: a collection that was removed meanwhile is made anew here.
    const body = { name: this.#parts.collection, get_or_create: true, configuration: { hnsw: { space: "cosine" } } };
    const { id } = this.#read(collection, await this.#parts.ask("/collections", body, signal));
    this.#id = id;
    return `chroma/${id}`;
  }

  async put(vectors: readonly KeyedVector[], signal: AbortSignal): Promise<void> {
    await this.#ask("upsert", signal, {
      ids: vectors.map(idOf),
      embeddings: vectors.map(({ vector }) => [...vector]),
      metadatas: vectors.map(({ file }) => ({ file })),
    });
  }

  async closest(vector: Float32Array, count: number, signal: AbortSignal): Promise<readonly CloseKey[]> {
    const body = {
      query_embeddings: [[...vector]],
      n_results: Math.min(count, CLOSEST_MAX),
      include: ["distances"],
    };
    const { ids, distances } = this.#read(closest, await this.#ask("query", signal, body));
    return ids[0].flatMap((id, index) => {
      const key = keyOf(id);
      const distance = distances[0][index];
      return key === undefined || distance === undefined ? [] : [{ ...key, closeness: 1 - distance }];
    });
  }

  async remove(keys: readonly ChunkKey[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_MAX)
      await this.#ask("delete", signal, { ids: keys.slice(at, at + KEYS_MAX).map(idOf) });
  }

  async removeFiles(files: readonly string[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < files.length; at += KEYS_MAX)
      await this.#ask("delete", signal, { where: { file: { $in: files.slice(at, at + KEYS_MAX) } } });
  }

  async #ask(act: string, signal: AbortSignal, body: JsonObject): Promise<unknown> {
    if (this.#id === undefined) await this.open(signal);
    try {
      return await this.#parts.ask(`/collections/${this.#id}/${act}`, body, signal);
    } catch (error) {
      this.#id = undefined; // it may be gone: the next request looks
      throw error;
    }
  }

  #read<T>(shape: z.ZodType<T>, answer: unknown): T {
    const parsed = shape.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new ToolFailure("IO_ERROR", "`chroma` answers something that is none of its interface's answers", {
      suggestion: "tell the operator to look at `knowledge.vectors.url`: another server may stand there",
      retryAfterMs: 10_000,
    });
  }
}

function idOf({ chunk, sha256, firstLine }: ChunkKey): string {
  return `${chunk}.${sha256}.${firstLine}`;
}

const ID = /^([1-9]\d{0,15})\.([0-9a-f]{64})\.([1-9]\d{0,8})$/;

/** The key of an id; nothing for one that somebody else put in. */
function keyOf(id: string): ChunkKey | undefined {
  const [, chunk, sha256, firstLine] = ID.exec(id) ?? [];
  if (chunk === undefined || sha256 === undefined || firstLine === undefined) return undefined;
  return { chunk: Number(chunk), sha256, firstLine: Number(firstLine) };
}
