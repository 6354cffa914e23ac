/**
 * Makes commits of a database durable without holding up the thread.
 *
 * The database's write-ahead log is fsynced by another thread, once for all callers that asked meanwhile.
 *
 * It trusts SQLite that with `synchronous = NORMAL` a commit stands in the log when it returns, that a checkpoint syncs
 * the log before and the database after copying, and that the log is one file as long as a connection is open. The log
 * carries no locks of SQLite, so that opening and closing it here drops none.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { Coalesced } from "../../../base/coalesced.ts";
import { errorCode, storeUnavailable } from "../../../base/errors.ts";

/** The fsyncs of one database's log. */
export class LogSync {
  readonly #log: FileHandle;
  readonly #syncs: Coalesced;

  private constructor(log: FileHandle) {
    this.#log = log;
    this.#syncs = new Coalesced(() => guarded(() => log.datasync()));
  }

  /**
   * Opens the log of the database at `path`, which is open and has written; its directory entry is durable afterwards.
   */
  static open(path: string): Promise<LogSync> {
    return guarded(async () => {
      const log = await open(`${path}-wal`, constants.O_RDONLY | constants.O_NOFOLLOW);
      const directory = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
      await directory.sync().finally(() => directory.close());
      return new LogSync(log);
    });
  }

  /** Resolves once everything that was committed before the call is durable. */
  sync(): Promise<void> {
    return this.#syncs.run();
  }

  /** Waits for what runs, and closes the log. */
  async close(): Promise<void> {
    await this.#syncs.settled();
    await this.#log.close();
  }
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = `a database of the state directory cannot be made durable (${errorCode(error)}); check its disk`;
    throw storeUnavailable(message, error);
  }
}
