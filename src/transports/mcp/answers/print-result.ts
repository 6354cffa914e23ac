/** Prints the answer to a tool call as JSON. */
import type { RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../base/json.ts";
import { type CallResult, META_RESULT } from "./call-result.ts";

/** What stands in every result of an era. */
export interface ResultFrame {
  /** Members that the result begins with. */
  readonly head?: JsonObject;
  /** Members of its `_meta`. */
  readonly meta?: JsonObject;
}

/** The whole JSON-RPC answer as one line without its end. */
export function printAnswer(
  id: RequestId,
  { texts, structuredContent, facts, isError }: CallResult,
  { head = {}, meta = {} }: ResultFrame = {},
): string {
  const content = texts.map(printBlock).join(",");
  const structured = structuredContent === undefined ? "" : `"structuredContent":${JSON.stringify(structuredContent)},`;
  const printedMeta = `"_meta":{${members(meta)}${JSON.stringify(META_RESULT)}:${JSON.stringify(facts)}}`;
  const first = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members(head)}`;
  return `${first}"content":[${content}],${structured}"isError":${isError},${printedMeta}}}`;
}

function printBlock(block: string | JsonObject): string {
  return typeof block === "string" ? `{"type":"text","text":${JSON.stringify(block)}}` : JSON.stringify(block);
}

/** The members of `object` as JSON, each followed by a comma. */
function members(object: JsonObject): string {
  const printed = JSON.stringify(object).slice(1, -1);
  return printed && `${printed},`;
}
