/**
 * Who refers to whom in an index: which chunks declare a name, and which mention it.
 *
 * The product does not use it: neither weight made answers better ("Knowledge" in docs/internals/performance.md).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { FoundChunk } from "../../src/knowledge/knowledge-store.ts";

const NAME = /[A-Za-z_$][\w$]{2,}/g;
/** Files that may declare a name: one that more of them declare says little. */
const DECLARING_MAX = 3;

interface Row {
  readonly path: string;
  readonly first_line: number;
  readonly last_line: number;
  readonly symbols: string;
}

/** The graph of one index. */
export interface SymbolGraph {
  /** How many other files mention a name that the chunk declares. */
  readonly mentions: (chunk: FoundChunk) => number;
  /** The keys of chunks that declare a name which this one mentions. */
  readonly declarers: (chunk: FoundChunk) => readonly string[];
}

/** Names a chunk within an index. */
export function keyOf({ path, firstLine }: Pick<FoundChunk, "path" | "firstLine">): string {
  return `${firstLine} ${path}`;
}

/** Reads the graph. @param database the file of the index @param workspace what it was made of */
export function symbolGraph(database: string, workspace: string): SymbolGraph {
  const index = new Sqlite(database, { readonly: true });
  const rows = index
    .prepare<[], Row>("SELECT f.path, c.first_line, c.last_line, c.symbols FROM chunks c JOIN files f ON f.id = c.file")
    .all();
  index.close();
  const declaring = new Map<string, Row[]>();
  for (const row of rows) {
    for (const name of namesOf(row)) {
      const chunks = declaring.get(name);
      if (chunks === undefined) declaring.set(name, [row]);
      else chunks.push(row);
    }
  }
  for (const [name, chunks] of declaring)
    if (new Set(chunks.map(({ path }) => path)).size > DECLARING_MAX) declaring.delete(name);
  const mentionedBy = new Map<string, Set<string>>();
  const declarers = new Map<string, readonly string[]>();
  for (const row of rows) {
    const lines = readFileSync(join(workspace, row.path), "utf8").split("\n");
    const own = new Set(namesOf(row));
    const mentioned = new Set(
      lines
        .slice(row.first_line - 1, row.last_line)
        .join("\n")
        .match(NAME) ?? [],
    );
    const others = [...mentioned].filter((name) => !own.has(name) && declaring.has(name));
    for (const name of others) mentionedBy.set(name, (mentionedBy.get(name) ?? new Set()).add(row.path));
    declarers.set(
      keyOf({ path: row.path, firstLine: row.first_line }),
      others.flatMap((name) =>
        (declaring.get(name) ?? []).map((one) => keyOf({ path: one.path, firstLine: one.first_line })),
      ),
    );
  }
  const names = new Map(rows.map((row) => [keyOf({ path: row.path, firstLine: row.first_line }), namesOf(row)]));
  return {
    mentions(chunk) {
      const counts = (names.get(keyOf(chunk)) ?? []).map((name) => mentionedBy.get(name)?.size ?? 0);
      return Math.max(0, ...counts);
    },
    declarers: (chunk) => declarers.get(keyOf(chunk)) ?? [],
  };
}

function namesOf({ symbols }: Row): readonly string[] {
  return symbols === "" ? [] : symbols.split("\n");
}
