/** Which entries of the ledger the security audit shows, and how severe they are. */
import { expect, test } from "vitest";
import { utf8 } from "../../../src/base/bytes.ts";
import { canonicalJson, type JsonObject } from "../../../src/base/json.ts";
import { securityEventOf } from "../../../src/ledger/audit/security-event.ts";
import type { LedgerRecord } from "../../../src/ledger/ledger.ts";

function recordOf(eventType: string, payload: JsonObject): LedgerRecord {
  const entry = {
    eventType,
    sequence: 7,
    sessionId: "",
    actor: "operator",
    requestId: "",
    timeMicros: 0,
  } as LedgerRecord["entry"];
  return { entry, payload: utf8(canonicalJson(payload)) } as LedgerRecord;
}

test.each([
  ["gates_loaded", "info"],
  ["settings_loaded", "info"],
  ["policy_loaded", "info"],
  ["lease_derived", "info"],
  ["lease_renewed", "info"],
  ["lease_created", undefined],
  ["lease_released", undefined],
  ["session_named", undefined],
  ["kernel_started", undefined],
  ["tool_executed", undefined],
])("%s: %s", (type, severity) => {
  expect(securityEventOf(recordOf(type, {}))?.severity).toBe(severity);
});

test("what says how severe it is takes part whatever its type, and a severity that nobody knows is a warning", () => {
  expect(securityEventOf(recordOf("tool_executed", { severity: "critical" }))?.severity).toBe("critical");
  expect(securityEventOf(recordOf("of_a_later_version", { severity: "grave" }))?.severity).toBe("warning");
  expect(securityEventOf(recordOf("of_a_later_version", {}))).toBeUndefined();
});
