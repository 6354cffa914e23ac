/**
 * From what a tool returned to what may leave: redact, then truncate, then label, then store what is too large. Redaction
 * comes first, so that nothing is measured, hashed or cut that still holds a secret.
 *
 * Bytes that a caller takes raw are answered up to 1 MiB. Text that is shown to a model is cut at 100 KB, unless the caller
 * said how much it wants; the whole of it is stored then.
 */
import { assert } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { INLINE_RESULT_BYTES_MAX, SHOWN_BYTES_MAX } from "../base/limits.ts";
import { type LabelledResult, labelResult } from "../flow/labels.ts";
import type { ToolCall } from "../model/call.ts";
import type { ToolOutput } from "../model/tool.ts";
import { type KnownSecret, redactText } from "../redact/redact.ts";
import { type CleanResult, type Finished, keepBytes, keepStream, keepText, type ResultParts } from "./large-result.ts";
import type { Trail } from "./trail.ts";

/** The secrets that the kernel holds for a call and that must not leave with its result. */
export function secretsOf(call: Pick<ToolCall, "sessionToken">): readonly KnownSecret[] {
  return [{ rule: "session-token", value: call.sessionToken }];
}

/**
 * Redacts, bounds and labels `output`. What is more than the answer shows is stored (CTR-0024); the failure says why it
 * could not be.
 */
export function finishResult(parts: ResultParts, trail: Trail, output: ToolOutput, signal: AbortSignal): Finished | Promise<Finished> {
  const { call, tool } = trail;
  assert(call && tool, "a result belongs to a call that ran");
  const secrets = secretsOf(call);
  if (output.kind === "stream") {
    const labelled = (found: number) => labelOutput(trail, output, found, parts.clock.nowMs());
    return keepStream(parts, trail, output.chunks, { secrets, labelled }, signal);
  }
  const counted = { findings: 0, bytes: 0, values: 0 };
  const labelled = (): LabelledResult => labelOutput(trail, output, counted.findings, parts.clock.nowMs());
  if (output.kind === "bytes") {
    const bytes = redactBytes(output.bytes, secrets, counted);
    if (bytes.byteLength > INLINE_RESULT_BYTES_MAX) return keepBytes(parts, trail, bytes, labelled(), counted.findings);
    return finished({ kind: "success", data: {}, bytes, truncated: false }, labelled(), counted);
  }
  const data = redactObject(output.data, secrets, counted);
  const shownMax = tool.capability.sizedByCaller ? INLINE_RESULT_BYTES_MAX : SHOWN_BYTES_MAX;
  // Printing takes time: only what may be too long is printed to be measured.
  const printedMax = counted.bytes * PRINTED_PER_BYTE_MAX + counted.values * PRINTED_PER_VALUE_MAX;
  const text = printedMax > shownMax ? JSON.stringify(data) : undefined;
  if (text !== undefined && Buffer.byteLength(text) > shownMax) return keepText(parts, trail, text, labelled(), counted.findings);
  return finished({ kind: "success", data, truncated: output.truncated ?? false }, labelled(), counted);
}

/** Bytes of JSON that one byte of text takes at most: control characters are written `\\u001f`. */
const PRINTED_PER_BYTE_MAX = 6;
/** Bytes of JSON that one value takes besides its text at most: quotes of it and of its name, a colon, a comma. */
const PRINTED_PER_VALUE_MAX = 6;

function finished(outcome: Omit<CleanResult["outcome"], "label">, { label, seen }: LabelledResult, counted: Counted): CleanResult {
  return { outcome: { ...outcome, label }, seen, secretsFound: counted.findings, outputBytes: counted.bytes };
}

/** The label of an output: its tool's, the label of the content that it was made from, and what was found in it. */
export function labelOutput(trail: Trail, output: ToolOutput, findings: number, nowMs: number): LabelledResult {
  const { tool, caller } = trail;
  assert(tool && caller, "a result belongs to a call that ran");
  const sources = output.kind === "data" && output.label ? [output.label] : [];
  return labelResult(tool, caller.mark, sources, { definite: findings, probable: 0 }, nowMs);
}

interface Counted {
  findings: number;
  bytes: number;
  /** Values of every kind, containers too. */
  values: number;
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
  counted.values += 1;
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
