/** Events of the ledger. Payloads carry hashes and sizes of arguments, never output. */
import type { JsonObject } from "../../base/json.ts";

/** Event types; the names are part of the ledger format. */
export const EVENT_TYPES = [
  "kernel_started",
  "kernel_stopped",
  "kernel_stalled",
  "landing_taken_back",
  "landing_interrupted",
  "landing_act_begun",
  "landing_act_ended",
  "tool_selected",
  "tool_call_written",
  "tool_executed",
  "tool_output_written",
  "provider_output_read",
  "tool_execution_denied",
  "tool_replayed",
  "tool_approval_required",
  "tool_approval_decided",
  "approval_requested",
  "approval_consumed",
  "approval_returned",
  "approval_expired",
  "approval_void",
  "approval_forged",
  "approval_answer_ignored",
  "always_allowed",
  "approver_added",
  "approver_removed",
  "tool_outcome_unknown",
  "workspace_violation",
  "network_blocked",
  "capability_overridden",
  "plugin_loaded",
  "plugin_refused",
  "plugin_withdrawn",
  "role_granted",
  "role_revoked",
  "secret_added",
  "secret_removed",
  "secret_rotated",
  "command_violation",
  "flow_violation",
  "network_reached",
  "requests_refused",
  "session_created",
  "session_named",
  "session_revoked",
  "admin_credential_made",
  "lease_created",
  "lease_derived",
  "lease_renewed",
  "lease_released",
  "policy_loaded",
  "policy_rejected",
  "settings_loaded",
  "upstream_added",
  "upstream_approved",
  "upstream_removed",
  "workspace_trusted",
  "workspace_trust_revoked",
  "branch_created",
  "branch_merged",
  "branch_dropped",
  "branch_act_begun",
  "branch_act_ended",
  "file_lock_broken",
  "secret_redacted",
  "mark_raised",
  "declassified",
  "declassification_void",
  "tool_audit",
  "armed",
  "gates_loaded",
  "disarmed",
  "alert_mode",
  "budget_settled",
  "frozen",
  "killed",
  "resumed",
  "spool_damaged",
  "anchor_rewritten",
  "ledger_restarted",
  "ledger_accepted",
  "content_stored",
  "content_collected",
  "content_quarantined",
  "content_references_rebuilt",
  "undo_begun",
  "undo_ended",
  "knowledge_begun",
  "knowledge_ended",
] as const;
/** One event type. */
export type EventType = (typeof EVENT_TYPES)[number];

/** `durable`: fsynced before it is acknowledged. `buffered`: survives a killed process, fsynced within 50 ms. */
export type Durability = "durable" | "buffered";

/** An event to record. */
export interface LedgerEvent {
  readonly type: EventType;
  readonly sessionId: string;
  readonly actor: string;
  readonly requestId: string;
  readonly timeMs: number;
  readonly payload: JsonObject;
  /** The event opens an intent: a later outcome names its sequence in `closes`. */
  readonly intent?: boolean;
  /** Sequence of the intent that this event closes. */
  readonly closes?: number;
}

/** Where events go. Resolves once the promised durability holds. */
export interface EventSink {
  /** Resolves with the entry's sequence. */
  record(event: LedgerEvent, durability: "durable"): Promise<number>;
  /** Resolves with the entry's sequence, or with `undefined` while a buffered event stands only in the spool. */
  record(event: LedgerEvent, durability: Durability): Promise<number | undefined>;
}
