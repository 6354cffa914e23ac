/** Responses: what the wire carries, and the ToolResult JSON. */
import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { textOf } from "../../src/base/bytes.ts";
import { ToolResponseSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import type { Label } from "../../src/model/outcome/label.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { decodeResponse, encodeResponse } from "../../src/wire/codec.ts";
import { refuseUndecodable } from "../../src/wire/refusal.ts";
import { toWireResponse } from "../../src/wire/response.ts";
import { toToolResult } from "../../src/wire/result.ts";
import { twoVariants, WireError } from "../../src/wire/wire-error.ts";

const label: Label = {
  trustLevel: "user",
  dataClass: "internal",
  source: { origin: "read_file", timestamp: "2026-01-02T03:04:05Z" },
};
const WIRE_LABEL = {
  trustLevel: "user",
  dataClass: "internal",
  origin: "read_file",
  timestamp: "2026-01-02T03:04:05Z",
};

const success: CallResponse = {
  requestId: "r",
  durationMs: 12.4,
  ledgerSequence: 7,
  rules: ["allow_reads"],
  outcome: { kind: "success", data: { entries: ["b", "a"] }, label, truncated: true },
};
const raw: CallResponse = {
  ...success,
  outcome: { kind: "success", data: {}, bytes: Uint8Array.of(0xff, 0), label, truncated: false },
};
const denied: CallResponse = {
  requestId: "r",
  durationMs: 0,
  rules: ["no_shell"],
  outcome: {
    kind: "denied",
    denial: {
      layer: "policy",
      reason: "shell_exec_denied",
      ruleId: "no_shell",
      message: "the shell is not allowed; use `run_test`",
      fix: "permit `shell` for `cargo test`",
      approvalRef: "apr-1",
      violations: [{ field: "file_read.path", rule: "required", message: "must not be empty" }],
      targetPath: "/etc/shadow",
    },
  },
};
const failed: CallResponse = {
  requestId: "r",
  durationMs: 3,
  rules: [],
  outcome: {
    kind: "error",
    code: "RESOURCE_BUSY",
    message: "the file is locked",
    suggestion: "try again",
    retryable: true,
    retryAfterMs: 250,
  },
};

const wireJson = (response: CallResponse) =>
  toJson(ToolResponseSchema, decodeResponse(encodeResponse(toWireResponse(response))));

describe("on the wire", () => {
  test("CTR-0022, CTR-0023: every outcome is one response under the request's id", () => {
    for (const response of [success, raw, denied, failed]) {
      const message = toWireResponse({ ...response, requestId: "the-id" });
      expect(message.requestId).toBe("the-id");
      expect(message.result.case).toBe({ success: "success", denied: "denied", error: "error" }[response.outcome.kind]);
    }
  });

  test("CTR-0025: a result is inline as canonical ToolResult JSON", () => {
    const message = toWireResponse(success);
    const inline = message.result.case === "success" ? (textOf(message.result.value.inlineResult) ?? "") : "";
    expect(inline).toBe(
      '{"data":{"entries":["b","a"]},"metadata":{"duration_ms":12,"label":{"dataClass":"internal","source":{"origin":"read_file",' +
        '"timestamp":"2026-01-02T03:04:05Z"},"trustLevel":"user"},"ledger_sequence":7,"rules":["allow_reads"],' +
        '"security_checks":"passed","truncated":true},"status":"success"}',
    );
    expect(JSON.parse(inline)).toEqual(toToolResult(success));
  });

  test("a file's bytes stay as they are, with label and duration beside them", () => {
    expect(wireJson(raw)).toEqual({
      requestId: "r",
      success: { inlineResult: "/wA=", durationMs: "12", label: WIRE_LABEL },
    });
  });

  test("CTR-0026, CTR-0027, CTR-0028: a refusal names rule, reason in upper case, layer, fix, approval and violations, never the target", () => {
    expect(wireJson(denied)).toEqual({
      requestId: "r",
      denied: {
        ruleId: "no_shell",
        rationaleCode: "SHELL_EXEC_DENIED",
        message: "the shell is not allowed; use `run_test`",
        layer: "policy",
        approvalRef: "apr-1",
        fix: "permit `shell` for `cargo test`",
        violations: [{ field: "file_read.path", rule: "required", message: "must not be empty" }],
      },
    });
  });

  test("CTR-0029, CTR-0030: a failure says whether and when to try again", () => {
    const error = {
      errorCode: "RESOURCE_BUSY",
      message: "the file is locked; try again",
      retryable: true,
      retryAfterMs: "250",
    };
    expect(wireJson(failed)).toEqual({ requestId: "r", error });
  });

  test("durations that are no count of milliseconds become 0", () => {
    for (const durationMs of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(toWireResponse({ ...raw, durationMs }).result.value).toMatchObject({ durationMs: 0n });
    }
  });
});

describe("as ToolResult JSON", () => {
  test("raw bytes are base64", () => {
    expect(toToolResult(raw)).toMatchObject({
      status: "success",
      data: { content_base64: "/wA=" },
      metadata: { truncated: false, label },
    });
  });

  test("a refusal is an error whose checks say `denied`, with layer, rule and fix", () => {
    expect(JSON.parse(JSON.stringify(toToolResult(denied)))).toEqual({
      status: "error",
      error: {
        code: "SHELL_EXEC_DENIED",
        message: "the shell is not allowed; use `run_test`",
        suggestion: "choose another way, or ask the operator to allow the call", // and not the fix again
        layer: "policy",
        rule_id: "no_shell",
        fix: "permit `shell` for `cargo test`",
        approval_ref: "apr-1",
        violations: [{ field: "file_read.path", rule: "required", message: "must not be empty" }],
      },
      metadata: { duration_ms: 0, security_checks: "denied", rules: ["no_shell"] },
    });
  });

  test("a failure has passed the checks; an internal error has not", () => {
    expect(JSON.parse(JSON.stringify(toToolResult(failed)))).toEqual({
      status: "error",
      error: {
        code: "RESOURCE_BUSY",
        message: "the file is locked",
        suggestion: "try again",
        retryable: true,
        retry_after_ms: 250,
      },
      metadata: { duration_ms: 3, security_checks: "passed", rules: [] },
    });
    const internal: CallResponse = {
      ...failed,
      outcome: { ...(failed.outcome as Extract<CallResponse["outcome"], { kind: "error" }>), code: "INTERNAL" },
    };
    expect(toToolResult(internal)).toMatchObject({ metadata: { security_checks: "failed" } });
  });
});

test("bytes that are no request are refused under their id, by the rule they break", () => {
  expect(toJson(ToolResponseSchema, refuseUndecodable("r", twoVariants("two")))).toMatchObject({
    requestId: "r",
    denied: {
      ruleId: "INV-0004",
      rationaleCode: "VALIDATION_FAILED",
      layer: "validate",
      violations: [{ field: "tool", rule: "mutually_exclusive" }],
    },
  });
  expect(toJson(ToolResponseSchema, refuseUndecodable("", new WireError("cut at byte 3")))).toMatchObject({
    denied: {
      ruleId: "WIRE:decode",
      message: "the request cannot be decoded: cut at byte 3",
      violations: [{ rule: "decode", message: "cut at byte 3" }],
    },
  });
});
