/**
 * Freezes in `state.db`. They are looked up with every call and change a few times a year, so they share the connection
 * and the cache of the sessions.
 *
 * INVARIANT: that a principal is not frozen is remembered too, so that one who is not costs no query.
 */
import { storeCorrupt } from "../../../base/errors.ts";
import { STORE_LIST_MAX } from "../../../base/limits.ts";
import type { Freeze, FreezeStore, FreezeTarget } from "../../../flow/freeze-store.ts";
import type { MarkOwner } from "../../../flow/mark-store.ts";
import { ownerKey } from "../../../model/people/owner-key.ts";
import { CachedStore } from "../state/cached-store.ts";

interface TargetRow {
  readonly scope: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly service_root: string;
}

interface FreezeRow extends TargetRow {
  readonly cause: "alert" | "operator";
  readonly reason: string;
  readonly frozen_by: string;
  readonly at_ms: number;
}

/** The scopes sort from the widest to the narrowest: `all`, `principal`, `workspace`. */
const WIDEST_FIRST = "ORDER BY scope, at_ms DESC, user_id, agent_id, service_root";
const THIS = "scope = @scope AND user_id = @user_id AND agent_id = @agent_id AND service_root = @service_root";

/** The freezes of an open `state.db`. */
export class EmbeddedFreezeStore extends CachedStore<Freeze | undefined> implements FreezeStore {
  readonly #find = this.database.prepare<[Omit<TargetRow, "scope">], FreezeRow>(
    `SELECT * FROM freezes WHERE scope = 'all' OR (user_id = @user_id AND agent_id = @agent_id
       AND (scope = 'principal' OR (scope = 'workspace' AND service_root = @service_root))) ${WIDEST_FIRST} LIMIT 1`,
  );

  async findFreeze(owner: MarkOwner): Promise<Freeze | undefined> {
    return this.cached(ownerKey(owner), () => {
      const { userId, agentId, serviceRoot } = owner;
      const row = this.#find.get({ user_id: userId, agent_id: agentId, service_root: serviceRoot });
      return row && freezeOf(row);
    });
  }

  async insertFreeze({ target, cause, reason, by, atMs }: Freeze): Promise<boolean> {
    const row: FreezeRow = { ...targetRow(target), cause, reason, frozen_by: by, at_ms: Math.floor(atMs) };
    const sql = `INSERT INTO freezes VALUES (@scope, @user_id, @agent_id, @service_root, @cause, @reason, @frozen_by, @at_ms)
      ON CONFLICT DO NOTHING`;
    return this.change(() => this.database.prepare<[FreezeRow]>(sql).run(row).changes === 1);
  }

  async removeFreeze(target: FreezeTarget): Promise<Freeze | undefined> {
    const sql = `DELETE FROM freezes WHERE ${THIS} RETURNING *`;
    const [row] = this.change(() => this.database.prepare<[TargetRow], FreezeRow>(sql).all(targetRow(target)));
    return row && freezeOf(row);
  }

  async listFreezes(): Promise<readonly Freeze[]> {
    const sql = `SELECT * FROM freezes ${WIDEST_FIRST} LIMIT ${STORE_LIST_MAX}`;
    return this.guarded(() => this.database.prepare<[], FreezeRow>(sql).all()).map(freezeOf);
  }
}

function targetRow(target: FreezeTarget): TargetRow {
  const {
    scope,
    userId = "",
    agentId = "",
    serviceRoot = "",
  } = target as Partial<MarkOwner> & Pick<FreezeTarget, "scope">;
  return { scope, user_id: userId, agent_id: agentId, service_root: serviceRoot };
}

function freezeOf({ cause, reason, frozen_by: by, at_ms: atMs, ...row }: FreezeRow): Freeze {
  return { target: targetOf(row), cause, reason, by, atMs };
}

function targetOf({ scope, user_id: userId, agent_id: agentId, service_root: serviceRoot }: TargetRow): FreezeTarget {
  if (scope === "all") return { scope };
  if (scope === "principal") return { scope, userId, agentId };
  if (scope === "workspace") return { scope, userId, agentId, serviceRoot };
  throw storeCorrupt("a freeze in the state directory names a scope that does not exist");
}
