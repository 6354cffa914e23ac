/**
 * Prints the answer to a call. The same text stands in it twice, once for clients that show text and once in the
 * structured result; it is escaped once, because escaping is the larger part of printing.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";

/** A result of `tools/call`, before it is printed. */
export interface CallResult {
  readonly text: string;
  readonly structuredContent: JsonObject;
  readonly isError: boolean;
}

/** The result as MCP's object, for the library's way. */
export function resultObject({ text, structuredContent, isError }: CallResult): JsonObject {
  return { content: [{ type: "text", text }], structuredContent, isError };
}

/** The whole JSON-RPC answer as text; equal to printing `resultObject` in an answer. */
export function printAnswer(id: RequestId, { text, structuredContent, isError }: CallResult): string {
  const escaped = JSON.stringify(text);
  const { data } = structuredContent;
  const structured =
    isPlain(data) && data["content"] === text
      ? members({ ...structuredContent, data: undefined }, `"data":${members({ ...data, content: undefined }, `"content":${escaped}`)}`)
      : JSON.stringify(structuredContent);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":${escaped}}],"structuredContent":${structured},"isError":${isError}}}`;
}

/** An object's JSON with one printed member added in front. */
function members(object: JsonObject, printed: string): string {
  const rest = JSON.stringify(object);
  return rest === "{}" ? `{${printed}}` : `{${printed},${rest.slice(1)}`;
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
