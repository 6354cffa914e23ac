/**
 * Classifies a JSON value as a message of JSON-RPC 2.0.
 *
 * It looks at the shape alone, without a schema library, because every message passes here. The protocol library looks
 * closer at what it handles.
 */
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "@modelcontextprotocol/server";
import { hasMoreJsonValues, isJsonObject } from "../../../base/json.ts";

/** A message by kind, or nothing. */
export type Classified =
  | { readonly kind: "request"; readonly message: JSONRPCRequest }
  | { readonly kind: "notification"; readonly message: JSONRPCNotification }
  | { readonly kind: "response"; readonly message: JSONRPCResponse };

const MEMBERS = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

/** The kind of `value`, or `undefined` when it is no message. */
export function classify(value: unknown): Classified | undefined {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0") return undefined;
  // the library would drop it unanswered
  if (!Object.keys(value).every((member) => MEMBERS.has(member))) return undefined;
  const { id, method, params } = value;
  if (typeof method === "string") {
    if ((params !== undefined && !isJsonObject(params)) || "result" in value || "error" in value) return undefined;
    if (id === undefined) return { kind: "notification", message: value as unknown as JSONRPCNotification };
    return isRequestId(id) ? { kind: "request", message: value as unknown as JSONRPCRequest } : undefined;
  }
  if (method !== undefined || !isRequestId(id)) return undefined;
  const isResult = isJsonObject(value["result"]) && value["error"] === undefined;
  return isResult || isErrorObject(value["error"])
    ? { kind: "response", message: value as unknown as JSONRPCResponse }
    : undefined;
}

/** Values of a message beside the arguments of a call, which the kernel bounds itself. */
const VALUES_MAX = 10_000;

/**
 * Whether a message has more values than any client needs. The protocol library remembers each that it finds wrong, so
 * that a message of a few megabytes would take all memory.
 */
export function isExcessive(message: JSONRPCMessage): boolean {
  if (!("method" in message)) return false;
  const { method, params = {} } = message;
  const isCall = method === "tools/call";
  for (const name of Object.keys(params)) {
    const value: unknown = params[name];
    if (typeof value !== "object" || (isCall && name === "arguments")) continue;
    if (hasMoreJsonValues(value, VALUES_MAX)) return true;
  }
  return false;
}

/** Whether `value` can be the id of a request. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** The request that a cancellation names. */
export function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id: unknown = message.params?.["requestId"];
  return isRequestId(id) ? id : undefined;
}

function isErrorObject(value: unknown): boolean {
  return isJsonObject(value) && Number.isSafeInteger(value["code"]) && typeof value["message"] === "string";
}
