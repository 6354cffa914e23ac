/** Bounds the values of one message of an upstream server: what checks a message does something for each of them. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { hasMoreJsonValues } from "../../../base/json.ts";

/** Values of one message, and of the data in an answer, which is checked against what was approved alone. */
const VALUES_MAX = 30_000;
const DATA_VALUES_MAX = 1_000_000;
/** Elements of one list in an answer: parts of a result, or tools. */
const ELEMENTS_MAX = 1000;

/** Whether what checks the message could run out of time or memory for what it finds wrong. */
export function isTooMuch(message: JSONRPCMessage): boolean {
  if (!("result" in message)) return hasMoreJsonValues(message, VALUES_MAX);
  const { structuredContent, ...rest } = message.result;
  if (Object.values(rest).some((one) => Array.isArray(one) && one.length > ELEMENTS_MAX)) return true;
  return hasMoreJsonValues(rest, VALUES_MAX) || hasMoreJsonValues(structuredContent, DATA_VALUES_MAX);
}
