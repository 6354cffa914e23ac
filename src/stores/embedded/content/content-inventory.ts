/**
 * The operator's look at content: what is stored, and whether it is what its rows say. Changes nothing, and works on a
 * connection that cannot.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { BlockHasher, inBlocks } from "../../../base/block-hashes.ts";
import { blake3Hex } from "../../../base/hash.ts";
import { CONTENT_PAGE_MAX } from "../../../base/limits.ts";
import type { ContentInventory, LedgerReference, ListedContent } from "../../../cas/content-store.ts";
import { guarded, openDatabaseReadOnly } from "../state/database.ts";
import { CONTENT_SCHEMA } from "../state/schema.ts";
import { checkStateDirectory } from "../state/state-directory.ts";
import { ContentFiles } from "./content-files.ts";
import { type OpenObject, verifiedBytes } from "./content-reader.ts";
import { ContentRows } from "./content-rows.ts";

const CODE = "STORE_UNAVAILABLE";

/** Where objects are looked up. */
export interface ObjectSource {
  readonly database: Database;
  /** Of the database, for messages. */
  readonly path: string;
  readonly files: ContentFiles;
}

interface ListedRow {
  readonly hash: string;
  readonly size: number;
  readonly created_at_ms: number;
  readonly state: ListedContent["state"];
  readonly owners: number;
  readonly artifacts: number;
  readonly ledger: number;
}

/** Opens the content of a state directory beside its kernels; `undefined` when nothing was ever stored there. */
export async function openContentInventory(stateDirectory: string): Promise<ContentInventory | undefined> {
  await checkStateDirectory(stateDirectory);
  const path = join(stateDirectory, "content.db");
  if (!existsSync(path)) return undefined;
  const database = openDatabaseReadOnly(path, CONTENT_SCHEMA, CODE);
  return openInventory({ database, path, files: new ContentFiles(stateDirectory) });
}

/** Artifacts and references whose content has no row. */
const DANGLING = `SELECT hash, 'artifact' AS kind, id AS name FROM artifacts WHERE hash NOT IN (SELECT hash FROM objects)
  UNION ALL SELECT hash, 'ledger''s request', request_id FROM ledger_references WHERE hash NOT IN (SELECT hash FROM objects)`;

/** The inventory over an open connection; closing it closes that. */
export function openInventory({ database, path, files }: ObjectSource): ContentInventory {
  const rows = new ContentRows(database);
  const guard = <T>(work: () => T): T => guarded(path, CODE, work);
  const listed = database.prepare<[string, number], ListedRow>(
    `SELECT hash, size, created_at_ms, state,
       (SELECT count(*) FROM holdings h WHERE h.hash = o.hash) AS owners,
       (SELECT count(*) FROM artifacts a WHERE a.hash = o.hash) AS artifacts,
       (SELECT count(*) FROM ledger_references r WHERE r.hash = o.hash) AS ledger
     FROM objects o WHERE hash > ? ORDER BY hash LIMIT ?`,
  );
  const dangling = database.prepare<[number], { hash: string; kind: string; name: string }>(`${DANGLING} LIMIT ?`);
  const danglingCount = database.prepare<[], number>(`SELECT count(*) FROM (${DANGLING})`).pluck();
  return {
    list: async (after, count) => guard(() => listed.all(after, Math.min(count, CONTENT_PAGE_MAX))).map(listedContent),
    inspect: async (hash) =>
      inspectObject(
        guard(() => rows.object(hash)),
        { files, document: guard(() => rows.document(hash)) },
        hash,
      ),
    dangling: async (count) =>
      guard(() => dangling.all(count)).map(({ hash, kind, name }) => ({
        hash,
        problem: `the ${kind} \`${name}\` refers to it, and it is not stored`,
      })),
    countDangling: async () => guard(() => danglingCount.get()) ?? 0,
    countStrayFiles: async () => {
      let strays = 0;
      for (const { hash } of files.objects()) if (guard(() => rows.object(hash)) === undefined) strays += 1;
      return strays;
    },
    hasReference: async (hash: string, reference: LedgerReference) => guard(() => rows.hasReference(hash, reference)),
    sizeOf: async (hash) => {
      const row = guard(() => rows.object(hash));
      return row?.state === "collecting" ? undefined : row?.size;
    },
    bytesOf: async (hash, bytesMax) => {
      const row = guard(() => rows.object(hash));
      if (row?.state !== "stored" || row.size > bytesMax) return undefined;
      const document = guard(() => rows.document(hash));
      if (document !== undefined) return blake3Hex(document) === hash ? document : undefined;
      const file = files.open(hash);
      return file && wholeOf({ ...file, sizeBytes: row.size, blockBytes: row.block_bytes, blocks: row.blocks });
    },
    close: async () => guard(() => void database.close()),
  };
}

function listedContent(row: ListedRow): ListedContent {
  const { hash, state, owners, artifacts } = row;
  return {
    hash,
    sizeBytes: row.size,
    createdAtMs: row.created_at_ms,
    state,
    owners,
    artifacts,
    references: row.ledger,
  };
}

/** What is wrong with one object, found by hashing all of it again. */
async function inspectObject(
  row: ReturnType<ContentRows["object"]>,
  { files, document }: { readonly files: ContentFiles; readonly document: Uint8Array | undefined },
  hash: string,
): Promise<string | undefined> {
  if (row === undefined || row.state === "collecting") return undefined; // collected since it was listed
  if (row.state === "quarantined") return "it was altered or lost, and put aside when it was read";
  if (document !== undefined) return blake3Hex(document) === hash ? undefined : "its bytes do not fit its hash";
  const file = files.open(hash);
  if (file === undefined) return "its file is missing";
  const object = { ...file, sizeBytes: row.size, blockBytes: row.block_bytes, blocks: row.blocks };
  const seen = await rehash(object);
  if (seen === undefined) return "its bytes do not fit the hashes of its blocks";
  return seen === hash ? undefined : "its bytes do not fit its hash";
}

/** The bytes of an object whose blocks are intact. */
async function wholeOf(object: OpenObject): Promise<Uint8Array | undefined> {
  const bytes = verifiedBytes(object, { offset: 0, length: object.sizeBytes }, "own");
  const blocks: Uint8Array[] = [];
  for (let next = await bytes.next(); ; next = await bytes.next()) {
    if (next.done === true) return next.value === "intact" ? Buffer.concat(blocks) : undefined;
    blocks.push(next.value);
  }
}

/** The hash of an object whose blocks are intact. */
async function rehash(object: OpenObject): Promise<string | undefined> {
  const hasher = new BlockHasher();
  const ended = { intact: false };
  async function* all(): AsyncGenerator<Uint8Array> {
    ended.intact = (yield* verifiedBytes(object, { offset: 0, length: object.sizeBytes }, "lent")) === "intact";
  }
  for await (const block of inBlocks(all())) hasher.add(block);
  return ended.intact ? hasher.digest().hash : undefined;
}
