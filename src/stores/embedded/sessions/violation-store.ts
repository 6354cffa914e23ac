/**
 * Violations in `violations.db`, shared by all kernels of a state directory.
 *
 * Opened with the first violation, because most agents make none. A commit survives a killed process and is not
 * fsynced: what a power failure takes would be forgotten within a minute anyway.
 */
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import type { MarkOwner } from "../../../flow/mark-store.ts";
import type { CountedViolation, ViolationStore } from "../../../flow/violation-store.ts";
import { guarded, immediately, openDatabase } from "../state/database.ts";
import { VIOLATIONS_SCHEMA } from "../state/schema.ts";
import { prepareStateDirectory } from "../state/state-directory.ts";

/** The violations of a state directory. Touches nothing until it is used. */
export function openViolationStore(stateDirectory: string): ViolationStore {
  let opening: Promise<EmbeddedViolationStore> | undefined;
  const opened = (): Promise<EmbeddedViolationStore> => {
    opening ??= EmbeddedViolationStore.open(stateDirectory).catch((error: unknown) => {
      opening = undefined; // what kept it from opening may be gone the next time
      throw error;
    });
    return opening;
  };
  return {
    count: async (violation) => (await opened()).count(violation),
    forget: async (owner) => (await opened()).forget(owner),
    close: async () => (await opening)?.close(),
  };
}

const OF_PRINCIPAL = "user_id = @userId AND agent_id = @agentId AND service_root = @serviceRoot";

class EmbeddedViolationStore {
  readonly #database: Database;
  readonly #path: string;

  static async open(stateDirectory: string): Promise<EmbeddedViolationStore> {
    await prepareStateDirectory(stateDirectory);
    const path = join(stateDirectory, "violations.db");
    const database = await openDatabase(path, VIOLATIONS_SCHEMA, "STORE_UNAVAILABLE");
    try {
      guarded(path, "STORE_UNAVAILABLE", () => database.pragma("synchronous = NORMAL"));
      return new EmbeddedViolationStore(database, path);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(database: Database, path: string) {
    this.#database = database;
    this.#path = path;
  }

  count({ owner, atMs, windowMs, countMax }: CountedViolation): number {
    const who = ownerOf(owner);
    const nowMs = Math.floor(atMs);
    return this.#change(() => {
      // A clock that was set back leaves times to come; they count as long as one that lies as far behind.
      this.#run("DELETE FROM violations WHERE abs(@atMs - at_ms) >= @windowMs", { atMs: nowMs, windowMs });
      this.#run(
        "INSERT INTO violations (user_id, agent_id, service_root, at_ms) VALUES (@userId, @agentId, @serviceRoot, @atMs)",
        {
          ...who,
          atMs: nowMs,
        },
      );
      this.#run(
        `DELETE FROM violations WHERE ${OF_PRINCIPAL} AND number NOT IN
           (SELECT number FROM violations WHERE ${OF_PRINCIPAL} ORDER BY number DESC LIMIT @countMax)`,
        { ...who, countMax },
      );
      const counted = this.#database
        .prepare<[MarkOwner], number>(`SELECT count(*) FROM violations WHERE ${OF_PRINCIPAL}`)
        .pluck();
      return counted.get(who) ?? 0;
    });
  }

  forget(owner: MarkOwner): void {
    this.#change(() => this.#run(`DELETE FROM violations WHERE ${OF_PRINCIPAL}`, ownerOf(owner)));
  }

  async close(): Promise<void> {
    guarded(this.#path, "STORE_UNAVAILABLE", () => this.#database.close());
  }

  #run(sql: string, values: object): void {
    this.#database.prepare<[object]>(sql).run(values);
  }

  #change<T>(work: () => T): T {
    return guarded(this.#path, "STORE_UNAVAILABLE", () => immediately(this.#database, work));
  }
}

/** The owner alone: a session is one too, and SQLite refuses to bind what a statement does not name. */
function ownerOf({ userId, agentId, serviceRoot }: MarkOwner): MarkOwner {
  return { userId, agentId, serviceRoot };
}
