/**
 * The index of one workspace in `index.db`: a full-text index over terms, without the text itself.
 *
 * Not fsynced: it can be made again from the files. INVARIANT: a file and its chunks change in one transaction, so that
 * a killed process leaves whole files, and the next one goes on after them.
 */
import { errorCode, storeCorrupt } from "../../../base/errors.ts";
import type {
  BareChunk,
  ChunkVector,
  FileOfChunks,
  FoundChunk,
  IndexCounts,
  IndexedFile,
  KnowledgeStore,
} from "../../../knowledge/knowledge-store.ts";
import type { CloseKey } from "../../../knowledge/vector-store.ts";
import { KNOWLEDGE_SCHEMA } from "../state/schema.ts";
import { EmbeddedStore, withRelaxed } from "../state/store.ts";
import { exportIndex, importIndex } from "./index-file.ts";
import { Vectors } from "./vectors.ts";

/** The file of the index. */
export const KNOWLEDGE_DATABASE = "index.db";
/**
 * Chunks that are weighed for one question. The rarest terms come first, and one of them always counts: what many
 * chunks hold says little, and takes long to weigh.
 */
const WEIGHED_MAX = 5000;
/** Files without vectors that are named at once. */
const UNEMBEDDED_MAX = 256;

/** Opens the index in `directory`, which is made if it is missing. @throws KernelError STORE_CORRUPT or UNAVAILABLE */
export function openKnowledgeStore(directory: string): Promise<KnowledgeStore> {
  const place = { stateDirectory: directory, file: KNOWLEDGE_DATABASE, schema: KNOWLEDGE_SCHEMA };
  return withRelaxed(place, (opened) => {
    try {
      return new EmbeddedKnowledge(opened);
    } catch (error) {
      // The statements are right: what they cannot be prepared on is no index any more.
      if (!/^SQLITE_(?:ERROR|CORRUPT|NOTADB)/.test(errorCode(error))) throw error;
      throw storeCorrupt(`${KNOWLEDGE_DATABASE} is damaged; it is made anew from the files`, error);
    }
  });
}

interface FileRow {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly changed_ms: number;
}

interface FoundRow {
  readonly path: string;
  readonly first_line: number;
  readonly last_line: number;
  readonly title: string;
  readonly score: number;
}

interface BareRow {
  readonly id: number;
  readonly first_line: number;
  readonly last_line: number;
  readonly title: string;
}

class EmbeddedKnowledge extends EmbeddedStore implements KnowledgeStore {
  readonly #allFiles = this.database.prepare<[], FileRow>(
    "SELECT path, sha256, size, changed_ms FROM files ORDER BY path",
  );
  readonly #fileId = this.database.prepare<[string], { id: number }>("SELECT id FROM files WHERE path = ?");
  readonly #chunkIds = this.database.prepare<[number], { id: number }>("SELECT id FROM chunks WHERE file = ?");
  readonly #dropTerms = this.database.prepare<[number]>("DELETE FROM terms WHERE rowid = ?");
  readonly #dropChunks = this.database.prepare<[number]>("DELETE FROM chunks WHERE file = ?");
  readonly #dropFile = this.database.prepare<[number]>("DELETE FROM files WHERE id = ?");
  readonly #putFile = this.database.prepare<[string, string, number, number]>(
    "INSERT INTO files (path, sha256, size, changed_ms) VALUES (?, ?, ?, ?)",
  );
  readonly #putChunk = this.database.prepare<[number, number, number, string, string]>(
    "INSERT INTO chunks (file, first_line, last_line, title, symbols) VALUES (?, ?, ?, ?, ?)",
  );
  readonly #putTerms = this.database.prepare<[number, string, string, string]>(
    "INSERT INTO terms (rowid, symbols, title, body) VALUES (?, ?, ?, ?)",
  );
  readonly #holding = this.database.prepare<[string, number], { count: number }>(
    "SELECT count(*) AS count FROM (SELECT 1 FROM terms WHERE terms MATCH ? LIMIT ?)",
  );
  readonly #best = this.database.prepare<[string, number], FoundRow>(
    `SELECT f.path, c.first_line, c.last_line, c.title, -t.rank AS score
     FROM (SELECT rowid, rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?) t
     JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = c.file
     ORDER BY t.rank, f.path, c.first_line`,
  );
  readonly #chunkById = this.database.prepare<[number], FoundRow & { readonly sha256: string }>(
    `SELECT f.path, f.sha256, c.first_line, c.last_line, c.title, 0 AS score
     FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`,
  );
  readonly #unembedded = this.database.prepare<[number], { path: string }>(
    `SELECT DISTINCT f.path FROM chunks c JOIN files f ON f.id = c.file
     WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id) LIMIT ?`,
  );
  readonly #bare = this.database.prepare<[string, string], BareRow>(
    `SELECT c.id, c.first_line, c.last_line, c.title FROM chunks c JOIN files f ON f.id = c.file
     WHERE f.path = ? AND f.sha256 = ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id)`,
  );
  readonly #dropVector = this.database.prepare<[number]>("DELETE FROM vectors WHERE chunk = ?");
  readonly #vectors = new Vectors(this.database);
  readonly #counts = this.database.prepare<[], IndexCounts>(
    "SELECT (SELECT count(*) FROM files) AS files, (SELECT count(*) FROM chunks) AS chunks",
  );

  files(): readonly IndexedFile[] {
    const rows = this.guarded(() => this.#allFiles.all());
    return rows.map(({ path, sha256, size, changed_ms }) => ({ path, sha256, sizeBytes: size, changedMs: changed_ms }));
  }

  put(files: readonly FileOfChunks[]): void {
    this.transaction(() => {
      for (const file of files) {
        this.#drop(file.path);
        const id = Number(this.#putFile.run(file.path, file.sha256, file.sizeBytes, file.changedMs).lastInsertRowid);
        for (const { firstLine, lastLine, title, symbols, ...terms } of file.chunks) {
          const names = symbols.join("\n");
          const chunk = Number(this.#putChunk.run(id, firstLine, lastLine, title, names).lastInsertRowid);
          this.#putTerms.run(chunk, terms.symbolTerms, terms.titleTerms, terms.bodyTerms);
        }
      }
    });
  }

  remove(paths: readonly string[]): void {
    this.transaction(() => {
      for (const path of paths) this.#drop(path);
    });
  }

  find(terms: readonly string[], count: number): readonly FoundChunk[] {
    return this.guarded(() => {
      const telling = this.#telling(terms);
      if (telling.length === 0) return [];
      const rows = this.#best.all(telling.map(quoted).join(" OR "), count);
      return rows.map(foundChunk);
    });
  }

  findClose(vector: Int8Array, count: number): readonly FoundChunk[] {
    return this.guarded(() =>
      this.#vectors.closest(vector, count).flatMap(({ chunk, closeness }) => {
        const row = this.#chunkById.get(chunk);
        return row === undefined ? [] : [{ ...foundChunk(row), score: closeness }];
      }),
    );
  }

  located(keys: readonly CloseKey[]): readonly (FoundChunk | undefined)[] {
    return this.guarded(() =>
      keys.map(({ chunk, sha256, firstLine, closeness }) => {
        const row = this.#chunkById.get(chunk);
        if (row === undefined || row.sha256 !== sha256 || row.first_line !== firstLine) return undefined;
        return { ...foundChunk(row), score: closeness };
      }),
    );
  }

  unembedded(model: string): { readonly paths: readonly string[]; readonly dropped: boolean } {
    return this.transaction(() => {
      const dropped = this.#vectors.require(model);
      return { dropped, paths: this.#unembedded.all(UNEMBEDDED_MAX).map(({ path }) => path) };
    });
  }

  bareChunks({ path, sha256 }: Pick<IndexedFile, "path" | "sha256">): readonly BareChunk[] {
    const rows = this.guarded(() => this.#bare.all(path, sha256));
    return rows.map(({ id, first_line, last_line, title }) => ({
      chunk: id,
      firstLine: first_line,
      lastLine: last_line,
      title,
    }));
  }

  embed(model: string, vectors: readonly ChunkVector[]): void {
    this.transaction(() => {
      this.#vectors.require(model);
      this.#vectors.put(vectors);
    });
  }

  counts(): IndexCounts {
    return this.guarded(() => this.#counts.get()) ?? { files: 0, chunks: 0 };
  }

  version(): number {
    return this.guarded(() => Number(this.database.pragma("data_version", { simple: true })));
  }

  clear(): void {
    this.#vectors.forget();
    this.transaction(() =>
      this.database.exec(
        "DELETE FROM vectors; DELETE FROM chunks; DELETE FROM files; INSERT INTO terms (terms) VALUES ('delete-all')",
      ),
    );
  }

  async exportTo(file: string): Promise<void> {
    await exportIndex(this.database, file);
  }

  async importFrom(file: string): Promise<void> {
    await importIndex(this.database, file);
  }

  /** The terms that tell chunks apart: the rarest, as far as the chunks that hold them can be weighed. */
  #telling(terms: readonly string[]): readonly string[] {
    let held = this.#rarestFirst(terms, WEIGHED_MAX + 1);
    if ((held[0]?.count ?? 0) > WEIGHED_MAX) held = this.#rarestFirst(terms, Number.MAX_SAFE_INTEGER).slice(0, 1);
    let weighed = 0;
    return held
      .filter(({ count }, index) => {
        weighed += count;
        return index === 0 || weighed <= WEIGHED_MAX;
      })
      .map(({ term }) => term);
  }

  /** The terms that any chunk holds, and how many do; counted up to `countMax`. */
  #rarestFirst(terms: readonly string[], countMax: number) {
    return terms
      .map((term) => ({ term, count: this.#holding.get(quoted(term), countMax)?.count ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((left, right) => left.count - right.count);
  }

  #drop(path: string): void {
    const found = this.#fileId.get(path);
    if (found === undefined) return;
    this.#vectors.forget();
    for (const { id } of this.#chunkIds.all(found.id)) {
      this.#dropTerms.run(id);
      this.#dropVector.run(id);
    }
    this.#dropChunks.run(found.id);
    this.#dropFile.run(found.id);
  }
}

function foundChunk({ path, first_line, last_line, title, score }: FoundRow): FoundChunk {
  return { path, firstLine: first_line, lastLine: last_line, title, score };
}

/** A term as a text of the query language of SQLite's full-text index, in which nothing is an operator. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
