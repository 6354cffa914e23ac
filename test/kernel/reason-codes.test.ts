/**
 * Every code that a caller can meet, pinned as a literal: they are part of the interface, and callers compare them. A
 * code that is added, renamed or removed has to be written down here.
 */
import ts from "typescript";
import { expect, test } from "vitest";
import { parse, REASONS, reasonsInCode } from "../support/reasons.ts";

const FAILURES = [
  "ARTIFACT_EXISTS",
  "BINARY_FILE",
  "CANCELLED",
  "CONTENT_CORRUPT",
  "CONTENT_MISMATCH",
  "CONTENT_NOT_FOUND",
  "CONTENT_TOO_LARGE",
  "DEDUPE_CONFLICT",
  "DISK_FULL",
  "EDIT_OVERLAP",
  "FILE_CHANGED",
  "FILE_EXISTS",
  "FILE_NOT_FOUND",
  "FILE_TOO_LARGE",
  "GIT_FAILED",
  "INTERNAL",
  "INVALID_UTF8",
  "IO_ERROR",
  "LEDGER_UNAVAILABLE",
  "MATCH_COUNT_MISMATCH",
  "NOT_A_DIRECTORY",
  "NOT_A_FILE",
  "NOT_SUPPORTED",
  "OUTCOME_UNKNOWN",
  "OUTPUT_LIMIT",
  "PERMISSION_DENIED",
  "RATE_LIMITED",
  "READ_ONLY_FILE_SYSTEM",
  "REGEX_INVALID",
  "REGEX_TIMEOUT",
  "RESOURCE_BUSY",
  "SANDBOX_UNAVAILABLE",
  "STORE_CORRUPT",
  "STORE_UNAVAILABLE",
  "TIMEOUT",
];

const LAYERS = [
  "approval",
  "authenticate",
  "budget",
  "call",
  "flow",
  "gates",
  "policy",
  "scope",
  "validate",
  "workspace",
];

const EVENTS = [
  "admin_credential_made",
  "alert_mode",
  "always_allowed",
  "anchor_rewritten",
  "approval_answer_ignored",
  "approval_consumed",
  "approval_expired",
  "approval_forged",
  "approval_requested",
  "approval_returned",
  "approval_void",
  "approver_added",
  "approver_removed",
  "armed",
  "branch_act_begun",
  "branch_act_ended",
  "branch_created",
  "branch_dropped",
  "branch_merged",
  "budget_settled",
  "capability_overridden",
  "command_violation",
  "content_collected",
  "content_quarantined",
  "content_references_rebuilt",
  "content_stored",
  "declassification_void",
  "declassified",
  "disarmed",
  "file_lock_broken",
  "flow_violation",
  "frozen",
  "gates_loaded",
  "kernel_stalled",
  "kernel_started",
  "kernel_stopped",
  "killed",
  "knowledge_begun",
  "knowledge_ended",
  "landing_act_begun",
  "landing_act_ended",
  "landing_interrupted",
  "landing_taken_back",
  "lease_created",
  "lease_derived",
  "lease_released",
  "lease_renewed",
  "ledger_accepted",
  "ledger_restarted",
  "mark_raised",
  "network_blocked",
  "network_reached",
  "plugin_loaded",
  "plugin_refused",
  "plugin_withdrawn",
  "policy_loaded",
  "policy_rejected",
  "provider_output_read",
  "requests_refused",
  "resumed",
  "role_granted",
  "role_revoked",
  "secret_added",
  "secret_redacted",
  "secret_removed",
  "secret_rotated",
  "session_created",
  "session_named",
  "session_revoked",
  "settings_loaded",
  "spool_damaged",
  "tool_approval_decided",
  "tool_approval_required",
  "tool_audit",
  "tool_call_written",
  "tool_executed",
  "tool_execution_denied",
  "tool_outcome_unknown",
  "tool_output_written",
  "tool_replayed",
  "tool_selected",
  "undo_begun",
  "undo_ended",
  "upstream_added",
  "upstream_approved",
  "upstream_removed",
  "workspace_trust_revoked",
  "workspace_trusted",
  "workspace_violation",
].sort();

test("the reasons of refusals", () => {
  expect(reasonsInCode(EVENTS)).toEqual(REASONS);
});

test("the error codes of tools (CTR-0029)", () => {
  expect(unionIn("src/model/outcome/failure.ts", "ToolFailureCode")).toEqual(FAILURES);
});

test("the layers that refuse", () => {
  expect(unionIn("src/model/outcome/decision.ts", "Layer")).toEqual(LAYERS);
});

test("the event types of the ledger", async () => {
  const { EVENT_TYPES } = await import("../../src/model/outcome/event.ts");
  expect([...EVENT_TYPES].sort()).toEqual(EVENTS);
});

/** The members of a union of literals, sorted. */
function unionIn(path: string, name: string): string[] {
  const declaration = parse(path).statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === name,
  );
  if (!declaration || !ts.isTypeAliasDeclaration(declaration) || !ts.isUnionTypeNode(declaration.type)) return [];
  return declaration.type.types.map((type) => type.getText().slice(1, -1)).sort();
}
