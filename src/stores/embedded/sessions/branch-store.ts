/**
 * Branches in `state.db`. They are looked up with every call of a session that works on one, and change rarely, so they
 * share the connection and the freshness of the sessions.
 */
import { STORE_LIST_MAX } from "../../../base/limits.ts";
import type { Branch, BranchState } from "../../../model/place/branch.ts";
import type { BranchChange, BranchStore } from "../../../sandbox/ports/branch-store.ts";
import { CachedStore } from "../state/cached-store.ts";

interface BranchRow {
  readonly id: string;
  readonly name: string;
  readonly service_root: string;
  readonly parent_id: string | null;
  readonly state: BranchState;
  readonly instance_id: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly way: Branch["way"];
  readonly entries: number;
  readonly created_at_ms: number;
}

/** The branches of an open `state.db`. */
export class EmbeddedBranchStore extends CachedStore<Branch | undefined> implements BranchStore {
  readonly #find = this.database.prepare<[string], BranchRow>("SELECT * FROM branches WHERE id = ?");

  async insertBranch<Refusal extends Error>(
    branch: Branch,
    refuse: (others: readonly Branch[]) => Refusal | undefined,
  ): Promise<Refusal | "taken" | undefined> {
    const sql = `INSERT INTO branches VALUES (@id, @name, @service_root, @parent_id, @state, @instance_id, @user_id, @agent_id, @way,
      @entries, @created_at_ms) ON CONFLICT DO NOTHING`;
    return this.change(() => {
      const refusal = refuse(this.#listed(branch.serviceRoot));
      if (refusal !== undefined) return refusal;
      return this.database.prepare<[BranchRow]>(sql).run(rowOf(branch)).changes === 1 ? undefined : "taken";
    });
  }

  async findBranch(id: string): Promise<Branch | undefined> {
    return this.cached(id, () => {
      const row = this.#find.get(id);
      return row && branchOf(row);
    });
  }

  async listBranches(serviceRoot?: string): Promise<readonly Branch[]> {
    return this.guarded(() => this.#listed(serviceRoot));
  }

  #listed(serviceRoot?: string): readonly Branch[] {
    const sql = `SELECT * FROM branches WHERE @root IS NULL OR service_root = @root ORDER BY created_at_ms, id LIMIT ${STORE_LIST_MAX}`;
    const wanted = { root: serviceRoot ?? null };
    return this.database.prepare<[typeof wanted], BranchRow>(sql).all(wanted).map(branchOf);
  }

  async changeBranch(id: string, { from, to, fromInstanceId, instanceId, ...patch }: BranchChange) {
    return this.change(() => {
      const row = this.#find.get(id);
      if (row?.state !== from || (fromInstanceId !== undefined && row.instance_id !== fromInstanceId)) return undefined;
      const changed = { ...row, ...patch, state: to, instance_id: instanceId };
      const sql = `UPDATE branches SET state = @state, instance_id = @instance_id, way = @way, entries = @entries
        WHERE id = @id`;
      this.database.prepare<[BranchRow]>(sql).run(changed);
      return branchOf(changed);
    });
  }

  async removeBranch(id: string): Promise<boolean> {
    return this.change(
      () => this.database.prepare<[string]>("DELETE FROM branches WHERE id = ?").run(id).changes === 1,
    );
  }

  async sessionsOn(id: string, nowMs: number): Promise<readonly string[]> {
    const sql = "SELECT id FROM sessions WHERE branch_id = ? AND revoked_at_ms IS NULL AND expires_at_ms > ?";
    const rows = this.guarded(() => this.database.prepare<[string, number], { id: string }>(sql).all(id, nowMs));
    return rows.map((row) => row.id);
  }
}

function rowOf({ parentId, serviceRoot, instanceId, userId, agentId, createdAtMs, ...branch }: Branch): BranchRow {
  return {
    ...branch,
    service_root: serviceRoot,
    parent_id: parentId ?? null,
    instance_id: instanceId,
    user_id: userId,
    agent_id: agentId,
    created_at_ms: Math.floor(createdAtMs),
  };
}

function branchOf(row: BranchRow): Branch {
  return {
    id: row.id,
    name: row.name,
    serviceRoot: row.service_root,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    state: row.state,
    instanceId: row.instance_id,
    userId: row.user_id,
    agentId: row.agent_id,
    way: row.way,
    entries: row.entries,
    createdAtMs: row.created_at_ms,
  };
}
