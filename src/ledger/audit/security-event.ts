/**
 * Projects ledger entries into the security audit that a person who watches over agents reads.
 *
 * It is no record of its own: what it says stands in the ledger, out of every agent's reach, and is verified with that.
 *
 * Pure. INVARIANT: an entry that says how severe it is takes part, whatever its type, so none is forgotten here.
 */
import { textOf } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { EventType, LedgerEvent } from "../../model/outcome/event.ts";
import type { LedgerRecord } from "../ledger.ts";

/** Mildest first. */
const SEVERITIES = ["info", "warning", "critical"] as const;
/** How severe an event is. */
export type Severity = (typeof SEVERITIES)[number];

/**
 * An event of the security audit. A violation has Flow's members: `violation_type`, `target_path`, `command_args`
 * (§7.2).
 */
export interface SecurityEvent {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** Empty when no agent did it. */
  readonly agent_id: string;
  readonly violation_type?: string;
  readonly target_path?: string;
  readonly command_args?: readonly JsonValue[];
  /** Type of the ledger's entry. */
  readonly event: string;
  readonly severity: Severity;
  /** Sequence in the ledger. */
  readonly sequence: number;
  readonly session_id: string;
  /** `USER/AGENT`, `operator:NAME` or `kernel`. */
  readonly actor: string;
  readonly request_id: string;
  /** The rest of the entry's payload; `null` once it was pruned. */
  readonly details: JsonObject | null;
}

/** How severe an event is that does not say so itself; `undefined` takes no part. Every type is decided here. */
const SEVERITY_OF: Readonly<Record<EventType, Severity | undefined>> = {
  kernel_started: undefined,
  kernel_stopped: undefined,
  kernel_stalled: "warning",
  landing_taken_back: "warning",
  landing_interrupted: "critical",
  landing_act_begun: undefined,
  landing_act_ended: "info",
  branch_created: undefined,
  branch_merged: "info",
  branch_dropped: "info",
  branch_act_begun: undefined,
  branch_act_ended: "info",
  tool_selected: undefined,
  tool_call_written: undefined,
  tool_executed: undefined,
  tool_output_written: undefined,
  provider_output_read: "info",
  tool_replayed: undefined,
  tool_audit: undefined,
  mark_raised: undefined,
  budget_settled: undefined,
  content_stored: undefined,
  content_collected: undefined,
  content_references_rebuilt: undefined,
  undo_begun: "warning",
  undo_ended: undefined,
  knowledge_begun: "info",
  knowledge_ended: undefined,
  ledger_restarted: "critical",
  ledger_accepted: "warning",
  workspace_violation: "warning",
  command_violation: "warning",
  flow_violation: "warning",
  network_blocked: "warning",
  network_reached: undefined,
  tool_execution_denied: "warning",
  tool_outcome_unknown: "warning",
  tool_approval_required: "info",
  tool_approval_decided: "info",
  approval_requested: "info",
  approval_consumed: "info",
  approval_returned: "info",
  approval_expired: "info",
  approval_void: "warning",
  approval_forged: "critical",
  approval_answer_ignored: "warning",
  always_allowed: "warning",
  approver_added: "warning",
  approver_removed: "warning",
  capability_overridden: "warning",
  plugin_loaded: undefined,
  plugin_refused: "warning",
  plugin_withdrawn: "info",
  role_granted: "warning",
  role_revoked: "info",
  secret_added: "warning",
  secret_removed: "warning",
  secret_rotated: "info",
  armed: "warning",
  disarmed: "info",
  alert_mode: "critical",
  frozen: "critical",
  killed: "critical",
  resumed: "warning",
  declassified: "warning",
  declassification_void: "warning",
  secret_redacted: "warning",
  requests_refused: "info",
  session_created: "info",
  session_named: undefined,
  session_revoked: "info",
  lease_created: undefined, // `session_created` says whose it is
  lease_derived: "info",
  lease_renewed: "info",
  lease_released: undefined,
  admin_credential_made: "warning",
  policy_loaded: "info",
  policy_rejected: "warning",
  settings_loaded: "info",
  gates_loaded: "info",
  upstream_added: "info",
  upstream_approved: "warning",
  upstream_removed: "info",
  workspace_trusted: "warning",
  workspace_trust_revoked: "info",
  file_lock_broken: "warning",
  spool_damaged: "critical",
  anchor_rewritten: "critical",
  content_quarantined: "critical",
};

/** The event that a record is for the security audit; `undefined` when it is none. */
export function securityEventOf({ entry, payload }: LedgerRecord): SecurityEvent | undefined {
  return projected(entry, payload === undefined ? undefined : factsOf(payload));
}

/** The same of an event that was recorded just now; `sequence` is 0 while it has no place in the chain. */
export function securityEventOfRecorded(event: LedgerEvent, sequence: number): SecurityEvent | undefined {
  const { type: eventType, sessionId, actor, requestId, timeMs, payload } = event;
  const entry = { eventType, sequence, sessionId, actor, requestId, timeMicros: Math.round(timeMs * 1000) };
  return projected(entry, payload);
}

type ProjectedEntry = Pick<
  LedgerRecord["entry"],
  "eventType" | "sequence" | "sessionId" | "actor" | "requestId" | "timeMicros"
>;

function projected(entry: ProjectedEntry, facts: JsonObject | undefined): SecurityEvent | undefined {
  const { eventType, sequence, sessionId, actor, requestId, timeMicros } = entry;
  const { severity: said, timestamp, agent_id, violation_type, target_path, command_args, ...rest } = facts ?? {};
  const severity = said === undefined ? SEVERITY_OF[eventType as EventType] : severityNamed(said);
  if (severity === undefined) return undefined;
  const common = { event: eventType, severity, sequence, session_id: sessionId, actor, request_id: requestId };
  const at = new Date(timeMicros / 1000).toISOString();
  if (typeof violation_type !== "string") {
    const details = facts === undefined ? null : withoutSeverity(facts);
    return { timestamp: at, agent_id: agentOf(actor), ...common, details };
  }
  return {
    timestamp: typeof timestamp === "string" ? timestamp : at,
    agent_id: typeof agent_id === "string" ? agent_id : agentOf(actor),
    violation_type,
    target_path: typeof target_path === "string" ? target_path : "",
    command_args: Array.isArray(command_args) ? command_args : [],
    ...common,
    details: rest,
  };
}

/** Whether `severity` is at least `least`. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);
}

/** A severity that nobody knows here is taken seriously. */
function severityNamed(said: JsonValue): Severity {
  return SEVERITIES.find((severity) => severity === said) ?? "warning";
}

function withoutSeverity({ severity: _said, ...details }: JsonObject): JsonObject {
  return details;
}

/** A payload is written by the kernel; one that is no object says nothing. */
function factsOf(payload: Uint8Array): JsonObject | undefined {
  const value: unknown = JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(value) ? value : undefined;
}

/** The agent of an actor `USER/AGENT`; the operator and the kernel are none. */
function agentOf(actor: string): string {
  const slash = actor.indexOf("/");
  return slash < 0 || actor.startsWith("operator:") ? "" : actor.slice(slash + 1);
}
