/**
 * Writes an answer of the kernel as a result of MCP: text for a model, and facts for programs.
 *
 * A model reads text: that of a file, the lines that were found, a command's output. It stands in the result once.
 * Clients show structured content instead of text, so only tools whose result is a record have it. INVARIANT: label,
 * ids, times and the code of a refusal are in `_meta` of every result, whatever the tool.
 */
import { canonicalJson, type JsonObject } from "../../../base/json.ts";
import type { ToolDefinition } from "../../../kernel/index.ts";
import type { Denial } from "../../../model/outcome/decision.ts";
import type { CallResponse, Outcome } from "../../../model/tool/call.ts";
import { toToolResult } from "../../../wire/index.ts";

/** Member of a result's `_meta`: the ToolResult without its data, and the request's id. */
export const META_RESULT = "handrail/result";

/** A result of `tools/call`, before it is printed. */
export interface CallResult {
  /** What a model reads: texts, and content blocks that are something else. */
  readonly texts: readonly (string | JsonObject)[];
  readonly structuredContent?: JsonObject;
  /** What stands under `META_RESULT`. */
  readonly facts: JsonObject;
  readonly isError: boolean;
  /** Whether there was no call to make: the modern era answers that as an error of the protocol. */
  readonly isMalformed: boolean;
  /** The request for approval that an answer would let the call through by. */
  readonly awaits?: string;
}

/** Which form the data of a tool have. */
export type ResultForm = Pick<ToolDefinition, "outputSchema" | "toText">;

/** Whether clients get the data of a tool structured, in the shape of its schema. */
export function isStructured(tool: ResultForm | undefined): tool is { readonly outputSchema: JsonObject } {
  return tool?.outputSchema !== undefined && tool.toText === undefined;
}

/** A response of the kernel as a result of MCP. */
export function resultOf(response: CallResponse, tool?: ResultForm): CallResult {
  const { outcome } = response;
  const isSuccess = outcome.kind === "success";
  const awaits = awaited(response);
  return {
    texts: response.spoken?.text === undefined ? textsOf(outcome, tool) : [response.spoken.text],
    ...(isSuccess && isStructured(tool) && { structuredContent: outcome.data }),
    facts: factsOf(response),
    isError: !isSuccess,
    isMalformed: isMalformed(response),
    ...(awaits !== undefined && { awaits }),
  };
}

function factsOf(response: CallResponse): JsonObject {
  const result = toToolResult(response);
  const { metadata } = result;
  return {
    request_id: response.requestId,
    status: result.status,
    ...(result.status === "error" && { error: result.error }),
    metadata,
  };
}

function awaited({ outcome }: CallResponse): string | undefined {
  return outcome.kind === "denied" && outcome.denial.reason === "tool_approval_required"
    ? outcome.denial.approvalRef
    : undefined;
}

/** Whether the request was none for a tool: its envelope does not hold, or there is no such tool. */
function isMalformed({ outcome }: CallResponse): boolean {
  return (
    outcome.kind === "denied" && (outcome.denial.layer === "validate" || outcome.denial.reason === "tool_spec_missing")
  );
}

function textsOf(outcome: Outcome, tool: ResultForm | undefined): readonly (string | JsonObject)[] {
  switch (outcome.kind) {
    case "denied":
      return [deniedText(outcome.denial)];
    case "error":
      return [failedText(outcome)];
    case "success": {
      const { data, stored } = outcome;
      if (stored !== undefined && typeof data["preview"] === "string") return cutTexts(data, data["preview"]);
      const texts = tool?.toText?.(data) ?? canonicalJson(data);
      return typeof texts === "string" ? [texts] : texts;
    }
  }
}

/** What is too large to be shown: how it begins, and the call that returns the rest. */
function cutTexts({ size, rest }: JsonObject, preview: string): readonly string[] {
  const call = rest === undefined ? "" : `; the rest: ${canonicalJson(rest)}`;
  return [preview, `[the result has ${String(size)} bytes of JSON, of which this is the beginning${call}]`];
}

/** Why a call was refused, what would allow it, and by which reference people know it. */
function deniedText({ ruleId, reason, message, fix, violations = [], approvalRef }: Denial): string {
  const more = violations.filter((each) => !message.includes(each.message));
  return [
    `denied by ${ruleId} (${reason}): ${message}`,
    ...more.map((each) => `- \`${each.field}\` ${each.message}`),
    ...(fix === undefined || message.includes(fix) ? [] : [`fix: ${fix}`]),
    ...(approvalRef === undefined || message.includes(approvalRef) ? [] : [`approval_ref: ${approvalRef}`]),
  ].join("\n");
}

function failedText({
  code,
  message,
  suggestion,
  retryable,
  retryAfterMs,
}: Extract<Outcome, { kind: "error" }>): string {
  const when = retryable && retryAfterMs > 0 ? `\ntry again in ${retryAfterMs} ms` : "";
  return `${code}: ${message}; ${suggestion}${when}`;
}
