/** Prepares a file for the index: its chunks with the terms that they are found by. */
import { chunksOf } from "./chunk-file.ts";
import type { IndexedChunk } from "./knowledge-store.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import { termsOf } from "./terms.ts";

/** The chunks of the file at `path`; `syntax` is its tree, where its language is known. */
export function indexChunks(path: string, text: string, syntax: SyntaxNode | undefined): readonly IndexedChunk[] {
  const lines = text.split("\n");
  const pathTerms = termsOf(path).join(" ");
  return chunksOf(path, text, syntax).map((chunk) => ({
    ...chunk,
    symbolTerms: termsOf(chunk.symbols.join(" ")).join(" "),
    titleTerms: `${termsOf(chunk.title).join(" ")} ${pathTerms}`,
    bodyTerms: termsOf(lines.slice(chunk.firstLine - 1, chunk.lastLine).join("\n")).join(" "),
  }));
}
