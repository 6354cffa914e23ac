/** Runs one `tools/call` in the kernel under the client's session, and returns the answer as an MCP result. */
import { canonicalJson, isJsonObject } from "../../../base/json.ts";
import type { InBandAsker } from "../../../kernel/index.ts";
import type { ProgressListener } from "../../../model/outcome/progress.ts";
import type { CallResponse } from "../../../model/tool/call.ts";
import { toToolResult } from "../../../wire/index.ts";
import type { McpOptions } from "../protocol/options.ts";
import type { CallResult } from "./print-result.ts";

/** Parameters of `tools/call`, as far as the kernel reads them. */
export interface CallParameters {
  /** `""` when the client sent no string: the kernel refuses it then, and records that it did. */
  readonly name: string;
  readonly arguments?: unknown;
  readonly _meta?: unknown;
}

/** The client while a call runs: how it ends the call, what it hears of it, and how it is asked. */
export interface CallingClient {
  readonly end: AbortSignal | AbortController;
  readonly listener?: ProgressListener | undefined;
  readonly inBand?: InBandAsker | undefined;
}

/** Makes the call; a refused or failed one is a result too, marked `isError`. */
export async function callTool(
  options: McpOptions,
  parameters: CallParameters,
  { end, ...hears }: CallingClient,
): Promise<CallResult> {
  const dedupeKey = isJsonObject(parameters._meta) ? parameters._meta["handrail/dedupe_key"] : undefined;
  const response = await options.door.execute(
    {
      kind: "call",
      requestId: options.newRequestId(),
      sessionToken: options.sessionToken,
      tool: parameters.name,
      arguments: parameters.arguments,
      ...(dedupeKey !== undefined && { dedupeKey }),
    },
    end,
    hears,
  );
  return resultOf(response);
}

/** A response of the kernel as a result of MCP. */
export function resultOf(response: CallResponse): CallResult {
  const isError = response.outcome.kind !== "success";
  const awaits = awaited(response);
  return {
    text: textOf(response),
    structuredContent: toToolResult(response),
    isError,
    isMalformed: isMalformed(response),
    ...(awaits !== undefined && { awaits }),
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

/** What a client without structured content shows its model. */
function textOf(response: CallResponse): string {
  const { outcome } = response;
  if (outcome.kind === "denied")
    return `denied by ${outcome.denial.ruleId} (${outcome.denial.reason}): ${outcome.denial.message}`;
  if (outcome.kind === "error") return `${outcome.code}: ${outcome.message}; ${outcome.suggestion}`;
  const { content } = outcome.data;
  return typeof content === "string" ? content : canonicalJson(outcome.data);
}
