/**
 * Writes an index to a file of its own, and takes one over.
 *
 * INVARIANTS: nothing of a file is taken over that is not whole, or whose tables are not exactly those of this
 * version: a trigger in a foreign file would run in the kernel. Whoever uses the index meanwhile sees the old one or
 * the new one.
 */
import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import Sqlite from "better-sqlite3";
import { errorCode, usageError } from "../../../base/errors.ts";

/** Bytes of an index that is taken over. */
const INDEX_BYTES_MAX = 8 * 1024 ** 3;

type Database = Sqlite.Database;

/** Writes what is in `database` to `file`. @throws KernelError USAGE where the file exists or cannot be made */
export async function exportIndex(database: Database, file: string): Promise<void> {
  try {
    await (await open(file, "wx", 0o600)).close();
  } catch (error) {
    const why = errorCode(error) === "EEXIST" ? "exists already" : "cannot be made";
    throw usageError(`\`${file}\` ${why}; name a new file in a directory that you may write to`, error);
  }
  try {
    await database.backup(file);
    const written = new Sqlite(file);
    try {
      written.pragma("journal_mode = DELETE"); // one file, without a log beside it
    } finally {
      written.close();
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** Puts what is in `file` into `database`. @throws KernelError USAGE where the file is no whole index */
export async function importIndex(database: Database, file: string): Promise<void> {
  const source = await opened(file);
  try {
    const problem = problemOf(source, database);
    if (problem !== undefined)
      throw usageError(
        `\`${file}\` ${problem}; take a file that \`handrail knowledge export\` of this version made`,
        undefined,
      );
    await source.backup(database.name);
  } finally {
    source.close();
  }
}

async function opened(file: string): Promise<Database> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat().finally(() => handle.close());
    if (!stats.isFile() || stats.size > INDEX_BYTES_MAX) throw new Error("no file of a usable size");
    return new Sqlite(file, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw usageError(`\`${file}\` is no file that can be read; name an exported index`, error);
  }
}

function problemOf(source: Database, like: Database): string | undefined {
  try {
    if (identityOf(source) !== identityOf(like)) return "is no index of this version";
    if (source.pragma("quick_check(1)", { simple: true }) !== "ok") return "is damaged";
    return undefined;
  } catch {
    return "is no index, or is damaged"; // SQLite cannot read it at all
  }
}

/** Everything by which a database can do more than hold rows. */
function identityOf(database: Database): string {
  const schema = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const pragma = (name: string) => database.pragma(name, { simple: true });
  return JSON.stringify([schema, pragma("application_id"), pragma("user_version")]);
}
