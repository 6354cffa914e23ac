/**
 * Keeps the vectors of an index and finds those that are closest to another, by the cosine.
 *
 * Looking at all is exact, and fast enough for the sizes that an index has. The rows are the truth; they are held in
 * memory, packed, until one changes.
 */
import type { Database } from "better-sqlite3";

interface Held {
  readonly chunks: readonly number[];
  readonly dimensions: number;
  readonly numbers: Int8Array;
  readonly lengths: Float64Array;
}

/** A chunk by its number, and how close it is: 1 at most. */
export interface CloseChunk {
  readonly chunk: number;
  readonly closeness: number;
}

/** The vectors of one index. */
export class Vectors {
  readonly #database: Database;
  #held: Held | undefined;
  #version = -1;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Something has changed. */
  forget(): void {
    this.#held = undefined;
  }

  /** Takes the vectors of other models out. @returns whether there were any */
  require(model: string): boolean {
    const found = this.#database.prepare<[], { model: string }>("SELECT model FROM embedding").get();
    if (found?.model === model) return false;
    this.forget();
    this.#database.exec("DELETE FROM vectors; DELETE FROM embedding");
    this.#database.prepare("INSERT INTO embedding (model) VALUES (?)").run(model);
    return found !== undefined;
  }

  /** Puts vectors in for chunks that are still there. */
  put(vectors: readonly { readonly chunk: number; readonly vector: Int8Array }[]): void {
    this.forget();
    const statement = this.#database.prepare(
      "INSERT OR REPLACE INTO vectors (chunk, vector) SELECT id, ? FROM chunks WHERE id = ?",
    );
    for (const { chunk, vector } of vectors)
      statement.run(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength), chunk);
  }

  /** The closest chunks, closest first. */
  closest(to: Int8Array, count: number): readonly CloseChunk[] {
    const { chunks, dimensions, numbers, lengths } = this.#loaded();
    if (dimensions !== to.length) return [];
    const own = lengthOf(to);
    const best: CloseChunk[] = [];
    let least = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < chunks.length; index += 1) {
      const closeness = product(numbers, index * dimensions, to) / ((lengths[index] ?? 1) * own || 1);
      if (closeness <= least && best.length >= count) continue;
      best.push({ chunk: chunks[index] ?? 0, closeness });
      if (best.length < 2 * count) continue;
      cut(best, count);
      least = best.at(-1)?.closeness ?? least;
    }
    cut(best, count);
    return best;
  }

  #loaded(): Held {
    const version = Number(this.#database.pragma("data_version", { simple: true })); // others may write, too
    if (this.#held !== undefined && version === this.#version) return this.#held;
    this.#version = version;
    const rows = this.#database.prepare<[], { chunk: number; vector: Buffer }>(
      "SELECT chunk, vector FROM vectors ORDER BY chunk",
    );
    const total = this.#database.prepare<[], { count: number }>("SELECT count(*) AS count FROM vectors").get();
    const chunks: number[] = [];
    let [dimensions, numbers, lengths] = [0, new Int8Array(), new Float64Array()];
    for (const { chunk, vector } of rows.iterate()) {
      if (dimensions === 0) {
        dimensions = vector.byteLength;
        numbers = new Int8Array(dimensions * (total?.count ?? 0));
        lengths = new Float64Array(total?.count ?? 0);
      }
      if (vector.byteLength !== dimensions || chunks.length >= lengths.length) continue;
      const one = new Int8Array(vector.buffer, vector.byteOffset, dimensions);
      numbers.set(one, chunks.length * dimensions);
      lengths[chunks.length] = lengthOf(one);
      chunks.push(chunk);
    }
    this.#held = { chunks, dimensions, numbers, lengths };
    return this.#held;
  }
}

function cut(best: CloseChunk[], count: number): void {
  best.sort((left, right) => right.closeness - left.closeness);
  best.length = Math.min(best.length, count);
}

function product(numbers: Int8Array, start: number, to: Int8Array): number {
  let sum = 0;
  for (let at = 0; at < to.length; at += 1) sum += (numbers[start + at] ?? 0) * (to[at] ?? 0);
  return sum;
}

function lengthOf(vector: Int8Array): number {
  return Math.sqrt(product(vector, 0, vector));
}
