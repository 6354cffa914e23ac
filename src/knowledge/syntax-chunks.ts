/**
 * Cuts code into chunks along its syntax tree.
 *
 * Neighbours that are short share a chunk, and what is too long is cut at the nodes below it. A comment stays with what
 * follows it. INVARIANT: each line lies in one chunk at most, chunks are in order, and depth and work are bounded.
 */
import { CHUNK_LINES_MAX, type Chunk, pieces } from "./chunk.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** Lines up to which neighbours are put together. */
const JOINED_LINES_MAX = 30;
/** Lines, such as the first ones of a class, that stay with what follows them. */
const HEAD_LINES_MAX = 4;
/** Levels below the root at which nodes are cut: what is deeper is cut by lines. */
const DEPTH_MAX = 6;
/** Levels within a chunk in which declared names are looked for. */
const NAME_DEPTH_MAX = 4;
/** Names of one chunk. */
const NAMES_MAX = 50;

/** The chunks of a file with `lineCount` lines. */
export function syntaxChunks(root: SyntaxNode, lineCount: number): readonly Chunk[] {
  const cut = new Cut();
  cut.take(root, { title: "", depth: 0 });
  cut.end(lineCount);
  return cut.chunks;
}

interface Around {
  readonly title: string;
  readonly depth: number;
}

/** The chunks so far, and the one that is being put together. */
class Cut {
  readonly chunks: Chunk[] = [];
  #title = "";
  #symbols: string[] = [];
  /** Lines up to here lie in finished chunks. */
  #doneLine = 0;
  /** Lines up to here lie in the open one. */
  #openLine = 0;

  /** Takes the nodes below `node`. */
  take(node: SyntaxNode, { title, depth }: Around): void {
    let comment: SyntaxNode | undefined;
    for (const child of node.children) {
      if (child.isComment) {
        comment ??= child;
        continue;
      }
      this.#place(child, comment ?? child, { title, depth });
      comment = undefined;
    }
    if (comment !== undefined) this.#openLine = Math.max(this.#openLine, comment.lastLine);
  }

  /** Everything up to the last line of the file. */
  end(lineCount: number): void {
    this.#openLine = Math.max(this.#openLine, lineCount);
    this.#close();
  }

  #place(node: SyntaxNode, start: SyntaxNode, { title, depth }: Around): void {
    const own = joined(title, node.name);
    if (node.lastLine - start.firstLine + 1 > CHUNK_LINES_MAX && depth < DEPTH_MAX) {
      this.#closeBefore(start.firstLine);
      this.#title = own;
      this.#note(node.name === undefined ? [] : [node.name]);
      this.take(node, { title: own, depth: depth + 1 });
      this.#openLine = Math.max(this.#openLine, node.lastLine);
      this.#close();
      return;
    }
    const isLong = node.lastLine - this.#doneLine > JOINED_LINES_MAX;
    if (isLong && start.firstLine - this.#doneLine > HEAD_LINES_MAX) this.#closeBefore(start.firstLine);
    if (this.#title === "" || this.#openLine === this.#doneLine) this.#title = own;
    this.#note(namesIn(node));
    this.#openLine = Math.max(this.#openLine, node.lastLine);
  }

  #note(names: readonly string[]): void {
    for (const name of names) if (this.#symbols.length < NAMES_MAX) this.#symbols.push(name);
  }

  /** Ends the open chunk before `line`, with the empty lines between. */
  #closeBefore(line: number): void {
    this.#openLine = Math.max(this.#openLine, line - 1);
    this.#close();
  }

  #close(): void {
    const [firstLine, lastLine] = [this.#doneLine + 1, this.#openLine];
    if (lastLine >= firstLine)
      this.chunks.push(...pieces({ firstLine, lastLine, title: this.#title, symbols: [...new Set(this.#symbols)] }));
    this.#doneLine = Math.max(this.#doneLine, lastLine);
    this.#openLine = this.#doneLine;
    this.#title = "";
    this.#symbols = [];
  }
}

function joined(title: string, name: string | undefined): string {
  if (name === undefined) return title;
  return title === "" ? name : `${title} > ${name}`;
}

function namesIn(node: SyntaxNode, depth = 0): readonly string[] {
  const own = node.name === undefined ? [] : [node.name];
  if (depth >= NAME_DEPTH_MAX) return own;
  return [...own, ...node.children.flatMap((child) => namesIn(child, depth + 1))];
}
