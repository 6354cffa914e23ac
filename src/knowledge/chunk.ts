/** A chunk: a range of lines of one file that is found and shown as a whole. */

/** Lines of a chunk at most: what is longer is cut. */
export const CHUNK_LINES_MAX = 60;
/** A range of lines; both ends count from 1 and belong to it. */
export interface Chunk {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The headings above it, outermost first, or the declaration that it is part of; may be empty. */
  readonly title: string;
  /** Names that are declared in it. */
  readonly symbols: readonly string[];
}

/** A chunk that is too long, as several of equal length. */
export function pieces(chunk: Chunk): readonly Chunk[] {
  const count = chunk.lastLine - chunk.firstLine + 1;
  if (count <= CHUNK_LINES_MAX) return [chunk];
  const each = Math.ceil(count / Math.ceil(count / CHUNK_LINES_MAX));
  const parts: Chunk[] = [];
  for (let firstLine = chunk.firstLine; firstLine <= chunk.lastLine; firstLine += each) {
    const symbols = parts.length === 0 ? chunk.symbols : [];
    parts.push({ ...chunk, firstLine, lastLine: Math.min(chunk.lastLine, firstLine + each - 1), symbols });
  }
  return parts;
}
