/**
 * Requests for approval in `approvals.db`, shared by all kernels of a state directory; opened with the first call that
 * asks.
 *
 * Commits survive a killed process; a decision and a use are durable when they are answered. INVARIANT: each change is
 * one statement, or one transaction with the write lock from its start, that names the state it starts from.
 */
import type {
  AddOutcome,
  ApprovalDecision,
  ApprovalOwner,
  ApprovalState,
  ApprovalStore,
  ApprovalUse,
  AskingLimits,
  DecideOutcome,
  NewApproval,
  StoredApproval,
  Swept,
} from "../../../approval/requests/approval-store.ts";
import { APPROVALS_SCHEMA } from "../state/schema.ts";
import { lazily, SyncedStore, withSynced } from "../state/store.ts";
import { type ApprovalRow, approvalIn, columnsOf, rowOf, stateAt } from "./approval-rows.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * Milliseconds after which it makes sense to ask again where too many requests wait: an answer may come at any time.
 */
const CROWDED_RETRY_MS = 5_000;

/** The approvals of a state directory. Touches nothing until it is used. */
export function openApprovalStore(stateDirectory: string): ApprovalStore {
  const place = { stateDirectory, file: "approvals.db", schema: APPROVALS_SCHEMA };
  const { open, opened } = lazily(() => withSynced(place, (database) => new EmbeddedApprovalStore(database)));
  return {
    live: async (call, nowMs) => (await open()).live(call, nowMs),
    find: async (ref, nowMs) => (await open()).find(ref, nowMs),
    findByPrefix: async (prefix, nowMs) => (await open()).findByPrefix(prefix, nowMs),
    list: async (state, limit, nowMs) => (await open()).list(state, limit, nowMs),
    room: async (owner, limits, nowMs) => (await open()).room(owner, limits, nowMs),
    add: async (approval, limits, mayJoin) => (await open()).add(approval, limits, mayJoin),
    lasting: async (owner, nowMs) => (await open()).lasting(owner, nowMs),
    noteRecorded: async (ref) => (await open()).noteRecorded(ref),
    isRecorded: async (ref) => (await open()).isRecorded(ref),
    decide: async (ref, decision) => (await open()).decide(ref, decision),
    consume: async (use, nowMs) => (await open()).consume(use, nowMs),
    countInBandAnswer: async (ref, before) => (await open()).countInBandAnswer(ref, before),
    giveBack: async (ref, requestId) => (await open()).giveBack(ref, requestId),
    end: async (ref, state) => (await open()).end(ref, state),
    sweep: async (nowMs, forgetBeforeMs, limit) => (await open()).sweep(nowMs, forgetBeforeMs, limit),
    close: async () => (await opened())?.close(),
  };
}

const OF_OWNER = "user_id = ? AND agent_id = ? AND service_root = ?";

class EmbeddedApprovalStore extends SyncedStore {
  private readonly byRef = this.database.prepare<[string], ApprovalRow>("SELECT * FROM approvals WHERE ref = ?");
  private readonly byCall = this.database.prepare<[string], ApprovalRow>(
    "SELECT * FROM approvals WHERE call = ? AND state IN ('pending', 'approved', 'denied') ORDER BY id",
  );
  private readonly countPending = this.database
    .prepare<[string, string, string, number], number>(
      `SELECT count(*) FROM approvals WHERE state = 'pending' AND ${OF_OWNER} AND expires_at_ms > ?`,
    )
    .pluck();
  private readonly countAllPending = this.database
    .prepare<[number], number>("SELECT count(*) FROM approvals WHERE state = 'pending' AND expires_at_ms > ?")
    .pluck();
  private readonly nthNewest = this.database
    .prepare<[string, string, string, number, number], number>(
      `SELECT created_at_ms FROM approvals WHERE ${OF_OWNER} AND created_at_ms <= ? ORDER BY created_at_ms DESC LIMIT 1 OFFSET ?`,
    )
    .pluck();
  private readonly byKind = this.database.prepare<[string, number], ApprovalRow>(
    "SELECT * FROM approvals WHERE kind = ? AND state = 'pending' AND kind <> '' AND expires_at_ms > ? ORDER BY id",
  );
  private readonly countJoined = this.database.prepare<[string]>(
    "UPDATE approvals SET joined = joined + 1 WHERE ref = ?",
  );
  private readonly ofOwnerLasting = this.database.prepare<[string, string, string, number], ApprovalRow>(
    `SELECT * FROM approvals WHERE state = 'approved' AND covers = 'kind' AND ${OF_OWNER} AND expires_at_ms > ? ORDER BY id`,
  );
  private readonly insert = this.database.prepare<[ApprovalRow]>(
    `INSERT INTO approvals (ref, call, binding, state, user_id, agent_id, service_root, session_id, tool, created_at_ms, lifetime_ms,
       expires_at_ms, session_ends_at_ms, in_band, code, approved, decided_at_ms, decided_by, channel, scope, until_ms, reason, uses,
       used_by, in_band_answers, document, recorded, covers, kind, joined)
     VALUES (@ref, @call, @binding, @state, @user_id, @agent_id, @service_root, @session_id, @tool, @created_at_ms, @lifetime_ms,
       @expires_at_ms, @session_ends_at_ms, @in_band, @code, @approved, @decided_at_ms, @decided_by, @channel, @scope, @until_ms, @reason,
       @uses, @used_by, @in_band_answers, @document, 0, @covers, @kind, @joined)`,
  );
  private readonly setDecision = this.database.prepare<[Record<string, unknown>]>(
    `UPDATE approvals SET state = @state, approved = @approved, decided_at_ms = @atMs, decided_by = @by, channel = @channel,
       scope = @scope, until_ms = @until_ms, covers = @covers, reason = @reason, expires_at_ms = @expiresAtMs WHERE ref = @ref`,
  );
  private readonly use = this.database.prepare<[{ ref: string; binding: string; requestId: string; nowMs: number }]>(
    `UPDATE approvals SET uses = uses + 1, used_by = @requestId, state = CASE scope WHEN 'once' THEN 'consumed' ELSE state END
     WHERE ref = @ref AND binding = @binding AND state = 'approved' AND expires_at_ms > @nowMs`,
  );
  private readonly unuse = this.database.prepare<[{ ref: string; requestId: string }]>(
    `UPDATE approvals SET uses = uses - 1, used_by = NULL, state = 'approved'
     WHERE ref = @ref AND used_by = @requestId AND uses > 0 AND state IN ('consumed', 'approved') AND NOT EXISTS (
       SELECT 1 FROM approvals AS other WHERE other.call = approvals.call AND other.binding = approvals.binding
         AND other.ref <> approvals.ref AND other.state IN ('pending', 'approved'))`,
  );
  private readonly countAnswer = this.database.prepare<[string, number]>(
    "UPDATE approvals SET in_band_answers = in_band_answers + 1 WHERE ref = ? AND in_band_answers = ?",
  );
  private readonly forgetUser = this.database.prepare<[string]>(
    "UPDATE approvals SET used_by = NULL WHERE ref = ? AND state = 'consumed'",
  );
  private readonly setEnded = this.database.prepare<[string, string]>(
    "UPDATE approvals SET state = ? WHERE ref = ? AND state IN ('pending', 'approved')",
  );

  live(call: string, nowMs: number): readonly StoredApproval[] {
    return this.guarded(() => this.byCall.all(call))
      .filter((row) => row.state !== "denied" || row.expires_at_ms > nowMs)
      .map((row) => approvalIn(row, nowMs));
  }

  find(ref: string, nowMs: number): StoredApproval | undefined {
    const row = this.guarded(() => this.byRef.get(ref));
    return row && approvalIn(row, nowMs);
  }

  findByPrefix(prefix: string, nowMs: number): readonly StoredApproval[] {
    const sql = "SELECT * FROM approvals WHERE ref >= ? AND ref < ? ORDER BY ref LIMIT 2";
    // `g` comes after every hexadecimal digit.
    const rows = this.guarded(() =>
      this.database.prepare<[string, string], ApprovalRow>(sql).all(`blake3:${prefix}`, `blake3:${prefix}g`),
    );
    return rows.map((row) => approvalIn(row, nowMs));
  }

  list(state: ApprovalState | undefined, limit: number, nowMs: number): readonly StoredApproval[] {
    const ending = "state IN ('pending', 'approved') AND expires_at_ms <= @nowMs";
    const sql = `SELECT * FROM approvals
      WHERE @state IS NULL OR (CASE WHEN ${ending} THEN 'expired' ELSE state END) = @state ORDER BY id DESC LIMIT @limit`;
    const wanted = { state: state ?? null, limit, nowMs: Math.floor(nowMs) };
    return this.guarded(() => this.database.prepare<[typeof wanted], ApprovalRow>(sql).all(wanted)).map((row) =>
      approvalIn(row, nowMs),
    );
  }

  room({ userId, agentId, serviceRoot }: ApprovalOwner, limits: AskingLimits, nowMs: number): number {
    return this.guarded(() => {
      const now = Math.floor(nowMs);
      // What lies ahead of a clock that went backwards does not count: it would keep everybody waiting until that time
      // comes again.
      const tooSoonMs = Math.max(
        ...[
          [limits.perMinuteMax, MINUTE_MS],
          [limits.perHourMax, HOUR_MS],
        ].map(([max = 1, spanMs = 0]) => {
          const nth = this.nthNewest.get(userId, agentId, serviceRoot, now, max - 1);
          return nth === undefined ? 0 : nth + spanMs - now;
        }),
      );
      if (tooSoonMs > 0) return tooSoonMs;
      if ((this.countPending.get(userId, agentId, serviceRoot, now) ?? 0) >= limits.pendingMax) return CROWDED_RETRY_MS;
      return (this.countAllPending.get(now) ?? 0) >= limits.pendingTotalMax ? CROWDED_RETRY_MS : 0;
    });
  }

  add(approval: NewApproval, limits: AskingLimits, mayJoin?: (ref: string) => boolean): AddOutcome {
    return this.transaction((): AddOutcome => {
      const { call, binding, kind, createdAtMs: nowMs } = approval;
      const living = this.byCall.all(call).find((row) => row.binding === binding && row.state !== "denied");
      if (living !== undefined) return { kind: "shared", approval: approvalIn(living, nowMs) };
      const like = mayJoin && kind !== "" ? this.byKind.all(kind, nowMs).find(({ ref }) => mayJoin(ref)) : undefined;
      if (like !== undefined) {
        this.countJoined.run(like.ref);
        return { kind: "joined", approval: approvalIn({ ...like, joined: like.joined + 1 }, nowMs) };
      }
      const retryAfterMs = this.room(approval, limits, nowMs);
      if (retryAfterMs > 0) return { kind: "crowded", retryAfterMs };
      this.insert.run(rowOf(approval));
      return { kind: "added" };
    });
  }

  lasting({ userId, agentId, serviceRoot }: ApprovalOwner, nowMs: number): readonly StoredApproval[] {
    const rows = this.guarded(() => this.ofOwnerLasting.all(userId, agentId, serviceRoot, Math.floor(nowMs)));
    return rows.map((row) => approvalIn(row, nowMs));
  }

  noteRecorded(ref: string): void {
    this.guarded(() => this.database.prepare("UPDATE approvals SET recorded = 1 WHERE ref = ?").run(ref));
  }

  isRecorded(ref: string): boolean {
    const recorded = this.database.prepare<[string], number>("SELECT recorded FROM approvals WHERE ref = ?").pluck();
    return this.guarded(() => recorded.get(ref)) === 1;
  }

  async decide(ref: string, decision: ApprovalDecision): Promise<DecideOutcome> {
    const outcome = this.transaction(() => this.decideLocked(ref, decision));
    await this.log.sync();
    return outcome;
  }

  async consume(use: ApprovalUse, nowMs: number): Promise<boolean> {
    const used = this.guarded(() => this.use.run({ ...use, nowMs: Math.floor(nowMs) }).changes === 1);
    if (used) await this.log.sync();
    return used;
  }

  countInBandAnswer(ref: string, before: number): boolean {
    return this.guarded(() => this.countAnswer.run(ref, before).changes === 1);
  }

  giveBack(ref: string, requestId: string): boolean {
    return this.guarded(() => this.unuse.run({ ref, requestId }).changes === 1);
  }

  end(ref: string, state: "expired" | "void"): boolean {
    return this.guarded(() => this.setEnded.run(state, ref).changes === 1);
  }

  sweep(nowMs: number, forgetBeforeMs: number, limit: number): Swept {
    const ending =
      "SELECT * FROM approvals WHERE state IN ('pending', 'approved') AND expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?";
    const over = `DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE state NOT IN ('pending', 'approved')
      AND expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?) RETURNING ref`;
    return this.transaction(() => {
      const rows = this.database.prepare<[number, number], ApprovalRow>(ending).all(Math.floor(nowMs), limit);
      for (const { ref } of rows) this.setEnded.run("expired", ref);
      const forget = this.database.prepare<[number, number], string>(over).pluck();
      const forgotten = forget.all(Math.floor(forgetBeforeMs), limit);
      return { expired: rows.map((row) => approvalIn(row, nowMs)), forgotten };
    });
  }

  private decideLocked(ref: string, decision: ApprovalDecision): DecideOutcome {
    const { approved, by, channel, atMs, scope, reason } = decision;
    const row = this.byRef.get(ref);
    if (row === undefined) return { kind: "unknown" };
    const state = stateAt(row, atMs);
    if (state !== "pending" && (state !== "approved" || approved)) {
      // What was used and then refused is not let through again, should the use come to nothing.
      if (!approved) this.forgetUser.run(ref);
      return { kind: "stands", approval: approvalIn(row, atMs) };
    }
    const granted = approved ? (scope ?? { kind: "once" as const }) : undefined;
    this.setDecision.run({
      ref,
      state: approved ? "approved" : "denied",
      approved: approved ? 1 : 0,
      atMs: Math.floor(atMs),
      by,
      channel,
      ...columnsOf(granted),
      reason: reason ?? null,
      expiresAtMs: endOf(row, granted, atMs),
    });
    return { kind: "decided", approval: approvalIn(this.byRef.get(ref) ?? row, atMs) };
  }
}

/**
 * When what was decided is over: no approval but one for the project outlives its session, and no denial lasts longer
 * than a request.
 */
function endOf(row: ApprovalRow, granted: ApprovalDecision["scope"], atMs: number): number {
  if (granted === undefined) return Math.min(row.expires_at_ms, Math.floor(atMs) + row.lifetime_ms);
  switch (granted.kind) {
    case "once":
      return Math.min(row.expires_at_ms, row.session_ends_at_ms);
    case "session":
    case "kind":
      return row.session_ends_at_ms;
    case "until":
      return Math.min(Math.floor(granted.untilMs), row.session_ends_at_ms);
    case "project":
      return Math.floor(granted.untilMs);
  }
}
