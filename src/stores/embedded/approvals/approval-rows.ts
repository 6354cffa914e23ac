/** Rows of `approvals.db` and the approvals that they stand for. */

import type {
  ApprovalDecision,
  ApprovalState,
  NewApproval,
  StoredApproval,
} from "../../../approval/requests/approval-store.ts";
import { type KernelError, storeCorrupt } from "../../../base/errors.ts";
import type { ApprovalChannel, ApprovalScope } from "../../../model/approval/approval.ts";

/** A row as SQLite gives it. */
export interface ApprovalRow {
  readonly ref: string;
  readonly call: string;
  readonly binding: string;
  readonly state: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly service_root: string;
  readonly session_id: string;
  readonly tool: string;
  readonly created_at_ms: number;
  /** How long the request was to live. */
  readonly lifetime_ms: number;
  /** When it is over as things stand. */
  readonly expires_at_ms: number;
  readonly session_ends_at_ms: number;
  readonly in_band: number;
  readonly code: string;
  readonly approved: number | null;
  readonly decided_at_ms: number | null;
  readonly decided_by: string | null;
  readonly channel: string | null;
  readonly scope: string | null;
  readonly until_ms: number | null;
  readonly reason: string | null;
  readonly uses: number;
  readonly used_by: string | null;
  readonly in_band_answers: number;
  readonly document: string;
  /** What an approval covers: the call that was shown, or its kind. With `until` the kind is the project's. */
  readonly covers: string;
  readonly kind: string;
  readonly joined: number;
}

/** The state at a time: what waits or lets through is over once its time has passed. */
export function stateAt(row: ApprovalRow, nowMs: number): ApprovalState {
  const isOpen = row.state === "pending" || row.state === "approved";
  return isOpen && row.expires_at_ms <= nowMs ? "expired" : (row.state as ApprovalState);
}

/** The approval of a row, at a time. */
export function approvalIn(row: ApprovalRow, nowMs: number): StoredApproval {
  const decision = decisionIn(row);
  return {
    ref: row.ref,
    call: row.call,
    binding: row.binding,
    state: stateAt(row, nowMs),
    userId: row.user_id,
    agentId: row.agent_id,
    serviceRoot: row.service_root,
    sessionId: row.session_id,
    tool: row.tool,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    sessionEndsAtMs: row.session_ends_at_ms,
    inBand: row.in_band === 1,
    code: row.code,
    ...(decision && { decision }),
    uses: row.uses,
    ...(row.used_by !== null && { usedBy: row.used_by }),
    inBandAnswers: row.in_band_answers,
    joined: row.joined,
    kind: row.kind,
    document: row.document,
  };
}

/** The row of a new request. */
export function rowOf(approval: NewApproval): ApprovalRow {
  return {
    ref: approval.ref,
    call: approval.call,
    binding: approval.binding,
    state: "pending",
    user_id: approval.userId,
    agent_id: approval.agentId,
    service_root: approval.serviceRoot,
    session_id: approval.sessionId,
    tool: approval.tool,
    created_at_ms: Math.floor(approval.createdAtMs),
    lifetime_ms: Math.floor(approval.expiresAtMs - approval.createdAtMs),
    expires_at_ms: Math.floor(approval.expiresAtMs),
    session_ends_at_ms: Math.floor(approval.sessionEndsAtMs),
    in_band: approval.inBand ? 1 : 0,
    code: approval.code,
    approved: null,
    decided_at_ms: null,
    decided_by: null,
    channel: null,
    scope: null,
    until_ms: null,
    reason: null,
    uses: 0,
    used_by: null,
    in_band_answers: 0,
    document: approval.document,
    covers: "call",
    kind: approval.kind,
    joined: 0,
  };
}

function decisionIn(row: ApprovalRow): ApprovalDecision | undefined {
  const { approved, decided_at_ms: atMs, decided_by: by, channel, reason } = row;
  if (approved === null) return undefined;
  if (atMs === null || by === null || channel === null) throw corrupt();
  const scope = scopeIn(row);
  return {
    approved: approved === 1,
    by,
    channel: channel as ApprovalChannel,
    atMs,
    ...(scope && { scope }),
    ...(reason !== null && { reason }),
  };
}

/** The columns of a scope. */
export function columnsOf(scope: ApprovalScope | undefined): Pick<ApprovalRow, "scope" | "until_ms" | "covers"> {
  if (scope === undefined) return { scope: null, until_ms: null, covers: "call" };
  switch (scope.kind) {
    case "kind":
      return { scope: "session", until_ms: null, covers: "kind" };
    case "project":
      return { scope: "until", until_ms: Math.floor(scope.untilMs), covers: "kind" };
    case "until":
      return { scope: scope.kind, until_ms: Math.floor(scope.untilMs), covers: "call" };
    default:
      return { scope: scope.kind, until_ms: null, covers: "call" };
  }
}

function scopeIn({ approved, scope, until_ms: untilMs, covers }: ApprovalRow): ApprovalScope | undefined {
  if (approved !== 1) return undefined;
  if (covers === "kind" && scope === "session") return { kind: "kind" };
  if (covers === "kind" && scope === "until" && untilMs !== null) return { kind: "project", untilMs };
  if (covers !== "call") throw corrupt();
  if (scope === "until" && untilMs !== null) return { kind: "until", untilMs };
  if (scope === "once" || scope === "session") return { kind: scope };
  throw corrupt();
}

function corrupt(): KernelError {
  return storeCorrupt("`approvals.db` in the state directory holds a decision that is none");
}
