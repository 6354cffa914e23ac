/**
 * Prints the answer to a call. Its text stands in it twice, for clients that show text and in the structured result.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";

/** A result of `tools/call`, before it is printed. */
export interface CallResult {
  readonly text: string;
  readonly structuredContent: JsonObject;
  readonly isError: boolean;
  /** Whether there was no call to make: the modern era answers that as an error of the protocol. */
  readonly isMalformed: boolean;
  /** The request for approval that an answer would let the call through by. */
  readonly awaits?: string;
}

/**
 * The whole JSON-RPC answer as one line without its end.
 * @param head members that the result begins with
 */
export function printAnswer(
  id: RequestId,
  { text, structuredContent, isError }: CallResult,
  head: JsonObject = {},
): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { ...head, content: [{ type: "text", text }], structuredContent, isError },
  });
}
