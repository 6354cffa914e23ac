/** The result document of a response, for the command line and the library. */
import type { JsonObject } from "../base/json.ts";
import type { CallResponse } from "../model/call.ts";
import { toToolResult } from "../wire/index.ts";

/** The Flow-style ToolResult of a response. */
export function toolResult(response: CallResponse): JsonObject {
  return toToolResult(response);
}
