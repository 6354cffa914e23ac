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
  /** Whether there was no call to make: the modern era answers that as an error of the protocol. */
  readonly isMalformed: boolean;
  /** The request for approval that an answer would let the call through by. */
  readonly awaits?: string;
}

/**
 * The whole JSON-RPC answer, as the pieces of one line without its end.
 * @param first members that the result begins with, as JSON with a comma at its end
 */
export function printAnswer(id: RequestId, { text, structuredContent, isError }: CallResult, first = ""): readonly string[] {
  const escaped = JSON.stringify(text);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${first}"content":[{"type":"text","text":`;
  const { data } = structuredContent;
  if (!isPlain(data) || data["content"] !== text) {
    return [head, escaped, `}],"structuredContent":${JSON.stringify(structuredContent)},"isError":${isError}}}`];
  }
  const rest = `${following(data, "content")}${following(structuredContent, "data")},"isError":${isError}}}`;
  return [head, escaped, '}],"structuredContent":{"data":{"content":', escaped, rest];
}

/** The members of `object` as they follow the one that is printed already, with the closing brace. */
function following(object: JsonObject, printed: string): string {
  let text = "";
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (name !== printed && member !== undefined) text += `,${JSON.stringify(name)}:${JSON.stringify(member)}`;
  }
  return `${text}}`;
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
