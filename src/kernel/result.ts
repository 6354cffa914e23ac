/**
 * From what a tool returned to what may leave: redact, then truncate, then label. Redaction comes first, so that
 * nothing is measured, hashed or cut that still holds a secret.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { INLINE_RESULT_BYTES_MAX } from "../base/limits.ts";
import { labelResult } from "../flow/flow.ts";
import type { Outcome, ToolCall } from "../model/call.ts";
import { ToolFailure } from "../model/failure.ts";
import type { Tool, ToolOutput } from "../model/tool.ts";
import { type KnownSecret, redactText } from "../redact/redact.ts";

/** A result that may leave, and the facts about it that evidence keeps. */
export interface CleanResult {
  readonly outcome: Extract<Outcome, { kind: "success" }>;
  readonly secretsFound: number;
  readonly outputBytes: number;
}

/** The secrets that the kernel holds for a call and that must not leave with its result. */
export function secretsOf(call: ToolCall): readonly KnownSecret[] {
  return [{ rule: "session-token", value: call.sessionToken }];
}

/**
 * Redacts, bounds and labels `output`; the failure OUTPUT_LIMIT when it is too large to be answered inline (CTR-0024).
 */
export function cleanResult(tool: Tool, output: ToolOutput, secrets: readonly KnownSecret[], nowMs: number): CleanResult | ToolFailure {
  const counted = { findings: 0, bytes: 0 };
  const clean: ToolOutput =
    output.kind === "bytes"
      ? { kind: "bytes", bytes: redactBytes(output.bytes, secrets, counted) }
      : { ...output, data: redactObject(output.data, secrets, counted) };
  if (counted.bytes > INLINE_RESULT_BYTES_MAX) {
    return new ToolFailure(
      "OUTPUT_LIMIT",
      `the result has ${counted.bytes} bytes, more than the ${INLINE_RESULT_BYTES_MAX} that fit an answer`,
      "ask for a part of it, for instance with offset and limit",
    );
  }
  const label = labelResult(tool.capability.labels, tool.name, counted.findings, nowMs);
  const outcome: CleanResult["outcome"] =
    clean.kind === "bytes"
      ? { kind: "success", data: {}, bytes: clean.bytes, label, truncated: false }
      : { kind: "success", data: clean.data, label, truncated: clean.truncated ?? false };
  return { outcome, secretsFound: counted.findings, outputBytes: counted.bytes };
}

interface Counted {
  findings: number;
  bytes: number;
}

function redactBytes(bytes: Uint8Array, secrets: readonly KnownSecret[], counted: Counted): Uint8Array {
  counted.bytes += bytes.byteLength;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!secrets.some((secret) => secret.value !== "" && buffer.includes(secret.value))) return bytes;
  // latin1 maps every byte to one code unit and back, so bytes that are not text survive.
  const redacted = redactText(buffer.toString("latin1"), secrets);
  counted.findings += redacted.findings;
  return Buffer.from(redacted.text, "latin1");
}

function redactValue(value: JsonValue, secrets: readonly KnownSecret[], counted: Counted): JsonValue {
  if (typeof value === "string") {
    const redacted = redactText(value, secrets);
    counted.findings += redacted.findings;
    counted.bytes += redacted.text.length < 64 ? redacted.text.length : utf8Length(redacted.text);
    return redacted.text;
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactValue(item, secrets, counted));
  if (typeof value === "object" && value !== null) return redactObject(value as JsonObject, secrets, counted);
  counted.bytes += 8;
  return value;
}

function redactObject(object: JsonObject, secrets: readonly KnownSecret[], counted: Counted): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    counted.bytes += name.length;
    result[name] = redactValue(member, secrets, counted);
  }
  return result;
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}
