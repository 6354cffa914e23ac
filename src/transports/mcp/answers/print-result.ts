/**
 * Prints the answer to a tool call as JSON.
 *
 * The answer's text stands in it twice: for clients that show text, and in the structured result.
 */
import type { RequestId } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";

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
  const printed = JSON.stringify(text);
  const content = `[{"type":"text","text":${printed}}]`;
  const structured = printStructured(structuredContent, text, printed);
  const first = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{`;
  return `${first}${members(head)}"content":${content},"structuredContent":${structured},"isError":${isError}}}`;
}

/** The structured result; its text is the larger part of an answer, and is not printed a second time. */
function printStructured(structured: JsonObject, text: string, printed: string): string {
  const { data, ...others } = structured;
  if (!isJsonObject(data) || data["content"] !== text) return JSON.stringify(structured);
  const { content: _, ...rest } = data;
  return `{${members(others)}"data":{${members(rest)}"content":${printed}}}`;
}

/** The members of `object` as JSON, each followed by a comma. */
function members(object: JsonObject): string {
  const printed = JSON.stringify(object).slice(1, -1);
  return printed && `${printed},`;
}
