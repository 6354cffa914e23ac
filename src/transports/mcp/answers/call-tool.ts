/** Runs one `tools/call` in the kernel under the client's session, and returns the answer as an MCP result. */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { InBandAsker } from "../../../kernel/index.ts";
import type { ProgressListener } from "../../../model/outcome/progress.ts";
import type { CallResponse } from "../../../model/tool/call.ts";
import { CONTENT_URI } from "../../../model/work/content.ts";
import type { McpOptions } from "../protocol/options.ts";
import { type CallResult, type ResultForm, resultOf } from "./call-result.ts";

/** Member of `_meta`: the key under which the call is executed at most once. */
export const META_DEDUPE_KEY = "handrail/dedupe_key";
/** Member of `_meta`: the caller's place in a trace, as W3C Trace Context writes it. */
const META_TRACEPARENT = "traceparent";

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
  /** Whether it knows links to resources in results. */
  readonly takesLinks?: boolean;
}

/** Makes the call; a refused or failed one is a result too, marked `isError`. */
export async function callTool(
  options: McpOptions,
  parameters: CallParameters,
  { end, takesLinks, ...hears }: CallingClient,
): Promise<CallResult> {
  const meta = isJsonObject(parameters._meta) ? parameters._meta : {};
  const { [META_DEDUPE_KEY]: dedupeKey, [META_TRACEPARENT]: traceparent } = meta;
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
    traceparent === undefined ? hears : { ...hears, traceparent },
  );
  const result = resultOf(response, formOf(options.door, parameters.name, response));
  const canRead = takesLinks === true && options.features?.resources !== undefined;
  const link = canRead ? storedLink(response) : undefined;
  const blocks = link === undefined ? result.texts : [...result.texts, { type: "resource_link", ...link }];
  const texts = canRead ? blocks : blocks.filter((block) => !isLink(block)); // what it links to is named in text too
  if (canRead) for (const { type: _, ...shown } of blocks.filter(isLink)) options.features?.onLink?.(shown);
  return { ...result, texts };
}

function isLink(block: string | JsonObject): block is JsonObject {
  return typeof block !== "string" && block["type"] === "resource_link";
}

/** The link to a result that was too large and is stored. */
function storedLink({ outcome }: CallResponse): JsonObject | undefined {
  if (outcome.kind !== "success" || outcome.stored === undefined) return undefined;
  const { hash, sizeBytes: size } = outcome.stored;
  return { uri: `${CONTENT_URI}${hash}`, name: `result ${hash.slice(0, 12)}`, mimeType: "text/plain", size };
}

/** The form of a result; one in a dialect with shapes of its own is shown as that says. */
function formOf(door: McpOptions["door"], name: string, { spoken }: CallResponse): ResultForm | undefined {
  if (spoken === undefined) return door.tool(name);
  return spoken.text === undefined ? door.tool(spoken.tool) : undefined;
}
