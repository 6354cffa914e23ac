/** Defines the embedder port: turns texts into vectors, of which close ones mean something similar. */

/** A model that embeds. */
export interface Embedder {
  /** Names the model: an index of another one is made anew. */
  readonly name: string;
  /** A vector for each text, in their order. @throws ToolFailure while it cannot be reached or does not answer well */
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;
}

/** A vector as an index keeps it: a byte for each number, of length one as far as bytes allow. */
export function packedVector(vector: Float32Array): Int8Array {
  let greatest = 0;
  for (const number of vector) greatest = Math.max(greatest, Math.abs(number));
  const factor = greatest === 0 ? 0 : 127 / greatest;
  return Int8Array.from(vector, (number) => Math.round(number * factor));
}
