/**
 * Shapes security events as OCSF, the Open Cybersecurity Schema Framework, for tools that collect them.
 *
 * What happened to a call is an API Activity (6003). What somebody should look at is a Detection Finding (2004).
 * Pure; it says no more than the security audit, and cuts what is long.
 */
import { KIB } from "../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { SecurityEvent, Severity } from "./security-event.ts";

/** The version of the schema whose names are used. */
export const OCSF_VERSION = "1.3.0";
const API_ACTIVITY = 6003;
const DETECTION_FINDING = 2004;
/** Characters of the details of one event: longer ones are named by their size. */
const DETAILS_CHARACTERS_MAX = 16 * KIB;
/** Characters of a text. */
const TEXT_CHARACTERS_MAX = 4 * KIB;

const SEVERITIES: Readonly<Record<Severity, { readonly severity_id: number; readonly severity: string }>> = {
  info: { severity_id: 1, severity: "Informational" },
  warning: { severity_id: 3, severity: "Medium" },
  critical: { severity_id: 5, severity: "Critical" },
};

/** Events that a person should look at. */
const FINDINGS: ReadonlySet<string> = new Set([
  "workspace_violation",
  "command_violation",
  "flow_violation",
  "network_blocked",
  "alert_mode",
  "frozen",
  "killed",
  "approval_forged",
  "secret_redacted",
  "content_quarantined",
  "spool_damaged",
  "anchor_rewritten",
  "ledger_restarted",
  "landing_interrupted",
  "file_lock_broken",
]);

/** What an API Activity did, by the beginning or end of the event's name. */
const ACTIVITIES = [
  [/_(?:created|added|granted|made|derived|requested|required)$|^armed$/, 1, "Create"],
  [/_(?:removed|revoked|released|dropped|expired|void|collected)$|^disarmed$/, 4, "Delete"],
  [/_(?:decided|consumed|returned|renewed|rotated|loaded|rebuilt|merged|overridden|trusted)$|^resumed$/, 3, "Update"],
] as const;
const OTHER = [99, "Other"] as const;

/** Who says it. */
export interface OcsfProduct {
  readonly version: string;
  /** The kernel; the state directory's ledger when absent. */
  readonly instanceId?: string;
}

/** The event as OCSF has it. */
export function ocsfOf(event: SecurityEvent, product: OcsfProduct): JsonObject {
  return FINDINGS.has(event.event) ? findingOf(event, product) : activityOf(event, product);
}

function activityOf(event: SecurityEvent, product: OcsfProduct): JsonObject {
  const [activity_id, activity_name] = activityNamed(event.event);
  const { details } = event;
  const isRefused = /denied|violation|rejected|refused|void|ignored|outcome_unknown/.test(event.event);
  const operation = textOf(details?.["tool"]) ?? event.event;
  return {
    ...common(event, { class_uid: API_ACTIVITY, class_name: "API Activity", activity_id, activity_name }, product),
    category_uid: 6,
    category_name: "Application Activity",
    api: { operation, service: { name: "handrail" }, request: { uid: event.request_id } },
    src_endpoint: { name: event.agent_id === "" ? event.actor : event.agent_id, uid: event.session_id },
    status_id: isRefused ? 2 : 1,
    status: isRefused ? "Failure" : "Success",
    ...statusOf(details),
  };
}

function findingOf(event: SecurityEvent, product: OcsfProduct): JsonObject {
  const { event: name, sequence, request_id, violation_type, target_path, command_args } = event;
  const resource = target_path === undefined || target_path === "" ? [] : [{ type: "file", name: cut(target_path) }];
  const command = (command_args ?? []).map((word) => cut(String(word))).join(" ");
  return {
    ...common(
      event,
      { class_uid: DETECTION_FINDING, class_name: "Detection Finding", activity_id: 1, activity_name: "Create" },
      product,
    ),
    category_uid: 2,
    category_name: "Findings",
    finding_info: {
      title: name,
      uid: sequence > 0 ? `ledger:${sequence}` : `request:${request_id}`,
      types: [violation_type ?? name],
    },
    is_alert: event.severity === "critical",
    ...(resource.length > 0 && { resources: resource }),
    ...(command !== "" && {
      evidences: [{ process: { cmd_line: cut(command) } }],
    }),
    status_id: 1,
    status: "New",
  };
}

interface OcsfClass {
  readonly class_uid: number;
  readonly class_name: string;
  readonly activity_id: number;
  readonly activity_name: string;
}

function common(event: SecurityEvent, what: OcsfClass, { version, instanceId }: OcsfProduct): JsonObject {
  const { severity, sequence, session_id, agent_id, actor, timestamp, details } = event;
  return {
    ...what,
    type_uid: what.class_uid * 100 + what.activity_id,
    time: Date.parse(timestamp),
    ...SEVERITIES[severity],
    message: event.event,
    metadata: {
      version: OCSF_VERSION,
      product: { name: "Handrail", vendor_name: "Handrail", version },
      event_code: event.event,
      ...(sequence > 0 && { sequence, uid: `ledger:${sequence}` }),
      ...(instanceId !== undefined && { log_provider: instanceId }),
    },
    actor: {
      user: { name: cut(actor), type_id: agent_id === "" ? 3 : 99 },
      ...(session_id !== "" && { session: { uid: session_id } }),
      ...(agent_id !== "" && { app_name: cut(agent_id) }),
    },
    unmapped: boundedDetails(details),
  };
}

function activityNamed(event: string): readonly [number, string] {
  const found = ACTIVITIES.find(([names]) => names.test(event));
  return found === undefined ? OTHER : [found[1], found[2]];
}

function statusOf(details: JsonObject | null): JsonObject {
  const reason = textOf(details?.["reason"]) ?? textOf(details?.["errorCode"]);
  const rule = textOf(details?.["ruleId"]);
  return { ...(reason !== undefined && { status_code: reason }), ...(rule !== undefined && { status_detail: rule }) };
}

/** What the audit says besides, unless it is long. */
function boundedDetails(details: JsonObject | null): JsonObject {
  if (details === null) return { pruned: true };
  const length = JSON.stringify(details).length;
  return length <= DETAILS_CHARACTERS_MAX ? details : { details_characters: length };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? cut(value) : undefined;
}

function cut(text: string): string {
  return text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed();
}
