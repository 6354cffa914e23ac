/**
 * The files of an open database, compared with what stands at their paths.
 *
 * SQLite goes on with files that were removed or replaced, and what it commits there is lost. INVARIANT: a check passes
 * only while each path names the file that was opened and none is shorter than it was: while a connection is open
 * neither the database nor its log shrinks, unless somebody compacts them on purpose, which opening them again shows to
 * be harmless. Trusts that the device and inode of a file that is open are given to no other.
 */
import { fstatSync, statSync } from "node:fs";
import { basename } from "node:path";
import { assert, KernelError, type KernelErrorCode } from "../../../base/errors.ts";

/** What a path names: device and inode. */
export type FileIdentity = `${bigint}:${bigint}`;

interface Seen {
  readonly path: string;
  readonly identity: FileIdentity;
  bytes: bigint;
  changedNs: bigint;
}

/** What `path` names now; `undefined` when there is nothing. */
export function identityAt(path: string): FileIdentity | undefined {
  return look(path)?.identity;
}

/** What an open file is. */
export function identityOf(descriptor: number): FileIdentity {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  return `${dev}:${ino}`;
}

/** A database's file, its log and its index, from the time they are open. */
export class OpenedFiles {
  readonly #database: Seen;
  readonly #others: readonly Seen[];
  readonly #code: KernelErrorCode;

  /**
   * Looks at the files of the database at `path`, which must have been read. @throws KernelError when one is gone
   * already
   */
  constructor(path: string, code: KernelErrorCode) {
    this.#code = code;
    const [database, ...others] = [path, `${path}-wal`, `${path}-shm`].map((each) => {
      const found = look(each);
      if (found === undefined) throw lost(each, code);
      return { path: each, ...found };
    });
    assert(database !== undefined, "a database has a file");
    this.#database = database;
    this.#others = others;
  }

  /** The database's own file. */
  get identity(): FileIdentity {
    return this.#database.identity;
  }

  /** Bytes of the database's own file when it was last looked at. */
  get bytes(): number {
    return Number(this.#database.bytes);
  }

  /** When the database's own file was last changed, by whomever, when it was last looked at. */
  get changedNs(): bigint {
    return this.#database.changedNs;
  }

  /** @throws KernelError with the code of the database when a file is not the one that was opened */
  check(): void {
    this.checkDatabase();
    for (const file of this.#others) this.#check(file);
  }

  /** Whether each file is the one that was opened, and no shorter. */
  inPlace(): boolean {
    return [this.#database, ...this.#others].every(stands);
  }

  /** The same of the database alone, which costs a third. */
  checkDatabase(): void {
    this.#check(this.#database);
  }

  /** Whether each path still names the file that was opened, however long that is. */
  checkNames(): void {
    for (const { path, identity } of [this.#database, ...this.#others])
      if (identityAt(path) !== identity) throw lost(path, this.#code);
  }

  #check(file: Seen): void {
    if (!stands(file)) throw lost(file.path, this.#code);
  }
}

function stands(file: Seen): boolean {
  const found = look(file.path);
  if (found?.identity !== file.identity || found.bytes < file.bytes) return false;
  file.bytes = found.bytes;
  file.changedNs = found.changedNs;
  return true;
}

function look(path: string): Omit<Seen, "path"> | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { identity: `${found.dev}:${found.ino}`, bytes: found.size, changedNs: found.ctimeNs };
}

function lost(path: string, code: KernelErrorCode): KernelError {
  const what = `\`${basename(path)}\` in the state directory was removed, replaced or cut while it was open`;
  return new KernelError(code, `${what}; stop every kernel, put the state directory back as it was, then start again`);
}
