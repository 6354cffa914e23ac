/**
 * Violations in `violations.db`, shared by all kernels of a state directory.
 *
 * Opened with the first violation, because most agents make none. A commit survives a killed process and is not
 * fsynced: what a power failure takes would be forgotten within a minute anyway.
 */
import type { MarkOwner } from "../../../flow/mark-store.ts";
import type { CountedViolation, ViolationStore } from "../../../flow/violation-store.ts";
import { VIOLATIONS_SCHEMA } from "../state/schema.ts";
import { EmbeddedStore, lazily, withRelaxed } from "../state/store.ts";

/** The violations of a state directory. Touches nothing until it is used. */
export function openViolationStore(stateDirectory: string): ViolationStore {
  const place = { stateDirectory, file: "violations.db", schema: VIOLATIONS_SCHEMA };
  const { open, opened } = lazily(() => withRelaxed(place, (database) => new EmbeddedViolationStore(database)));
  return {
    count: async (violation) => (await open()).count(violation),
    forget: async (owner) => (await open()).forget(owner),
    close: async () => (await opened())?.close(),
  };
}

const OF_PRINCIPAL = "user_id = @userId AND agent_id = @agentId AND service_root = @serviceRoot";

class EmbeddedViolationStore extends EmbeddedStore {
  count({ owner, atMs, windowMs, countMax }: CountedViolation): number {
    const who = ownerOf(owner);
    const nowMs = Math.floor(atMs);
    return this.transaction(() => {
      // A clock that was set back leaves times to come; they count as long as one that lies as far behind.
      this.#run("DELETE FROM violations WHERE abs(@atMs - at_ms) >= @windowMs", { atMs: nowMs, windowMs });
      this.#run(
        "INSERT INTO violations (user_id, agent_id, service_root, at_ms) VALUES (@userId, @agentId, @serviceRoot, @atMs)",
        { ...who, atMs: nowMs },
      );
      this.#run(
        `DELETE FROM violations WHERE ${OF_PRINCIPAL} AND number NOT IN
           (SELECT number FROM violations WHERE ${OF_PRINCIPAL} ORDER BY number DESC LIMIT @countMax)`,
        { ...who, countMax },
      );
      const counted = this.database
        .prepare<[MarkOwner], number>(`SELECT count(*) FROM violations WHERE ${OF_PRINCIPAL}`)
        .pluck();
      return counted.get(who) ?? 0;
    });
  }

  forget(owner: MarkOwner): void {
    this.transaction(() => this.#run(`DELETE FROM violations WHERE ${OF_PRINCIPAL}`, ownerOf(owner)));
  }

  #run(sql: string, values: object): void {
    this.database.prepare<[object]>(sql).run(values);
  }
}

/** The owner alone: a session is one too, and SQLite refuses to bind what a statement does not name. */
function ownerOf({ userId, agentId, serviceRoot }: MarkOwner): MarkOwner {
  return { userId, agentId, serviceRoot };
}
