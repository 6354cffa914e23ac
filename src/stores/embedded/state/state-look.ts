/**
 * Looks cheaply whether the databases of a state directory are Handrail's own and none is newer than this program.
 *
 * It reads the first bytes of each file and opens no database: a store that is needed looks closer and refuses by
 * itself. This look is for the stores that a command does not need, so that nobody works on beside a damaged one
 * unknowing.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../base/errors.ts";
import * as schemas from "./schema.ts";

/** The databases, and how they are laid out. */
const DATABASES = {
  "approvals.db": schemas.APPROVALS_SCHEMA,
  "budget.db": schemas.BUDGET_SCHEMA,
  "content.db": schemas.CONTENT_SCHEMA,
  "dedupe.db": schemas.DEDUPE_SCHEMA,
  "history.db": schemas.HISTORY_SCHEMA,
  "ledger.db": schemas.LEDGER_SCHEMA,
  "locks.db": schemas.LOCKS_SCHEMA,
  "state.db": schemas.STATE_SCHEMA,
  "violations.db": schemas.VIOLATIONS_SCHEMA,
} as const;

/** What every SQLite database begins with, and where its header says what it is (file format, section 1.3). */
const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
const VERSION_AT = 60;
const APPLICATION_AT = 68;

/** Says what is wrong, one sentence for each file; nothing where all is well or there is no state yet. */
export function lookAtState(stateDirectory: string): readonly string[] {
  return Object.entries(DATABASES).flatMap(([file, schema]) => {
    const problem = problemOf(join(stateDirectory, file), schema);
    return problem === undefined ? [] : [`\`${file}\` in the state directory ${problem}`];
  });
}

/** Whether damage to the ledger is known: then everything that writes to it is refused. */
export function isLedgerKnownDamaged(stateDirectory: string): boolean {
  return existsSync(join(stateDirectory, "ledger.damaged"));
}

function problemOf(path: string, schema: (typeof DATABASES)[keyof typeof DATABASES]): string | undefined {
  const header = headerOf(path);
  if (typeof header === "string") return `cannot be read (${header}); check who owns it and its disk`;
  if (header === undefined || header.length === 0) return undefined; // not made yet
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC)
    return "is damaged (no database begins like that); nothing was deleted: stop every kernel, keep a copy of the state directory, then restore a backup";
  const [version, application] = [header.readUInt32BE(VERSION_AT), header.readUInt32BE(APPLICATION_AT)];
  // A database that is being made says in its log what it is.
  if (version === 0 && application === 0) return undefined;
  if (application !== schema.applicationId) return "is not a database of handrail; use another state directory";
  if (version > schema.migrations.length)
    return "was made by a newer handrail; upgrade handrail, or use another state directory";
  return undefined;
}

/** The header as far as there is one; `undefined` where there is no file, a code where it cannot be read. */
function headerOf(path: string): Buffer | string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return errorCode(error) === "ENOENT" ? undefined : errorCode(error);
  }
  try {
    if (!fstatSync(file).isFile()) return "no regular file";
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } catch (error) {
    return errorCode(error);
  } finally {
    closeSync(file);
  }
}
