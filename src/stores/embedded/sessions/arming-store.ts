/**
 * Armings in `state.db`. They are looked up with every call and change a few times a day, so they share the connection
 * and the cache of the sessions.
 */
import { STORE_LIST_MAX } from "../../../base/limits.ts";
import type { Arming, ArmingStore } from "../../../session/arming-store.ts";
import { CachedStore } from "../state/cached-store.ts";

/** `session_id` is empty for an arming of all sessions. */
interface ArmingRow {
  readonly session_id: string;
  readonly armed_at_ms: number;
  readonly until_ms: number;
  readonly armed_by: string;
}

/** The armings of an open `state.db`. */
export class EmbeddedArmingStore extends CachedStore<number> implements ArmingStore {
  readonly #until = this.database
    .prepare<[string], number | null>("SELECT max(until_ms) FROM armings WHERE session_id IN ('', ?)")
    .pluck();

  async findArmedUntil(sessionId: string): Promise<number> {
    return this.cached(sessionId, () => this.#until.get(sessionId) ?? 0);
  }

  async putArming({ sessionId = "", armedAtMs, untilMs, armedBy }: Arming): Promise<void> {
    this.change(() => {
      this.database.prepare("DELETE FROM armings WHERE until_ms <= ?").run(armedAtMs);
      this.database
        .prepare("INSERT OR REPLACE INTO armings VALUES (?, ?, ?, ?)")
        .run(sessionId, armedAtMs, untilMs, armedBy);
    });
  }

  async removeArmings(sessionId: string | undefined): Promise<readonly Arming[]> {
    const wanted = { sessionId: sessionId ?? null };
    const sql = "DELETE FROM armings WHERE @sessionId IS NULL OR session_id = @sessionId RETURNING *";
    return this.change(() => this.database.prepare<[typeof wanted], ArmingRow>(sql).all(wanted)).map(armingOf);
  }

  async listArmings(): Promise<readonly Arming[]> {
    const sql = `SELECT * FROM armings ORDER BY session_id LIMIT ${STORE_LIST_MAX}`;
    return this.guarded(() => this.database.prepare<[], ArmingRow>(sql).all()).map(armingOf);
  }
}

function armingOf({ session_id, armed_at_ms, until_ms, armed_by }: ArmingRow): Arming {
  return {
    ...(session_id !== "" && { sessionId: session_id }),
    armedAtMs: armed_at_ms,
    untilMs: until_ms,
    armedBy: armed_by,
  };
}
