/** Events of the security audit as OCSF: two classes, with the members that each must have. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { OCSF_VERSION, ocsfOf } from "../../../src/ledger/audit/ocsf.ts";
import { securityEventOfRecorded } from "../../../src/ledger/audit/security-event.ts";
import { EVENT_TYPES, type EventType } from "../../../src/model/outcome/event.ts";

const PRODUCT = { version: "1.2.3", instanceId: "ins_test" };

function shaped(type: EventType, payload: JsonObject, sequence = 7): JsonObject {
  const event = { type, sessionId: "ses_a", actor: "ann/agent", requestId: "r-1", timeMs: 1_700_000_000_000, payload };
  const found = securityEventOfRecorded(event, sequence);
  if (found === undefined) throw new Error(`${type} is no event of the audit`);
  return ocsfOf(found, PRODUCT);
}

/** Members that both classes require. */
const REQUIRED = [
  "activity_id",
  "actor",
  "category_uid",
  "class_uid",
  "metadata",
  "severity_id",
  "time",
  "type_uid",
  "status_id",
];

test("every event of the audit has the members that its class requires", () => {
  let count = 0;
  for (const type of EVENT_TYPES) {
    const event = { type, sessionId: "", actor: "kernel", requestId: "", timeMs: 1, payload: {} };
    const found = securityEventOfRecorded(event, 0);
    if (found === undefined) continue;
    count += 1;
    const ocsf = ocsfOf(found, PRODUCT);
    for (const member of REQUIRED) expect([type, member, member in ocsf]).toEqual([type, member, true]);
    const { class_uid, activity_id, type_uid } = ocsf;
    expect(type_uid).toBe(Number(class_uid) * 100 + Number(activity_id));
    expect([type, class_uid === 6003 ? "api" in ocsf && "src_endpoint" in ocsf : "finding_info" in ocsf]).toEqual([
      type,
      true,
    ]);
  }
  expect(count).toBeGreaterThan(40);
});

test("a violation is a finding about a path, with its place in the ledger", () => {
  const facts = { violation_type: "workspace_path_traversal", target_path: "../x", command_args: ["cat", "../x"] };
  expect(shaped("workspace_violation", { ...facts, severity: "warning" })).toMatchObject({
    class_uid: 2004,
    severity_id: 3,
    time: 1_700_000_000_000,
    metadata: { version: OCSF_VERSION, sequence: 7, uid: "ledger:7", product: { name: "Handrail", version: "1.2.3" } },
    finding_info: { title: "workspace_violation", uid: "ledger:7", types: ["workspace_path_traversal"] },
    resources: [{ type: "file", name: "../x" }],
    evidences: [{ process: { cmd_line: "cat ../x" } }],
    is_alert: false,
  });
  expect(shaped("alert_mode", { severity: "critical" })).toMatchObject({ severity_id: 5, is_alert: true });
});

test("a decision of a person and a refusal are activities that succeeded and failed", () => {
  expect(shaped("tool_approval_decided", { tool: "shell" })).toMatchObject({
    class_uid: 6003,
    activity_id: 3,
    status_id: 1,
    api: { operation: "shell", request: { uid: "r-1" } },
  });
  expect(shaped("tool_execution_denied", { tool: "shell", reason: "lease_scope", ruleId: "LEASE:x" })).toMatchObject({
    status_id: 2,
    status_code: "lease_scope",
    status_detail: "LEASE:x",
  });
});

test("an event without a place in the ledger yet names none, and long details are named by their size", () => {
  const ocsf = shaped("policy_loaded", { files: "x".repeat(100_000) }, 0);
  expect(JSON.stringify(ocsf).length).toBeLessThan(4096);
  expect(ocsf).toMatchObject({ unmapped: { details_characters: 100_012 } });
  expect(JSON.stringify(ocsf["metadata"])).not.toContain("sequence");
});
