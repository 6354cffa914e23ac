/**
 * Cuts a file into chunks: code by its syntax, documents by their headings, everything else into equal pieces.
 *
 * INVARIANT: chunks are in the order of their lines, do not overlap, and their number is bounded.
 */
import { type Chunk, pieces } from "./chunk.ts";
import { syntaxChunks } from "./syntax-chunks.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** Chunks of one file at most; the lines after them are not indexed. */
const CHUNKS_OF_FILE_MAX = 2000;
/** Files whose headings structure them. */
const DOCUMENT = /\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt)$/i;
const HEADING = /^(#{1,6})[ \t]+(\S.*)$/;
const FENCE = /^[ \t]{0,3}(?:```|~~~)/;

/** Cuts the text of the file at `path` into chunks; `syntax` is its tree, where its language is known. */
export function chunksOf(path: string, text: string, syntax: SyntaxNode | undefined): readonly Chunk[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return [];
  const chunks = DOCUMENT.test(path)
    ? documentChunks(lines)
    : syntax === undefined
      ? pieces({ firstLine: 1, lastLine: lines.length, title: "", symbols: [] })
      : syntaxChunks(syntax, lines.length);
  return chunks.slice(0, CHUNKS_OF_FILE_MAX);
}

/** A chunk for each section, under the titles of all headings above it. */
function documentChunks(lines: readonly string[]): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const titles: string[] = [];
  let firstLine = 1;
  let isFenced = false;
  const end = (lastLine: number) => {
    if (lastLine < firstLine) return;
    const title = titles.join(" > ");
    chunks.push(...pieces({ firstLine, lastLine, title, symbols: [] }));
  };
  for (const [index, line] of lines.entries()) {
    if (FENCE.test(line)) isFenced = !isFenced;
    const heading = isFenced ? null : HEADING.exec(line);
    if (heading === null) continue;
    end(index);
    firstLine = index + 1;
    const depth = (heading[1] ?? "").length;
    titles.length = Math.min(titles.length, depth - 1);
    titles.push((heading[2] ?? "").replace(/[ \t]*#*[ \t]*$/, ""));
  }
  end(lines.length);
  return chunks;
}
