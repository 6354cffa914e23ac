/** Answers the requests of the tasks extension. */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { META_CLIENT_CAPABILITIES } from "../protocol/revisions.ts";
import { INVALID_PARAMS, MISSING_CAPABILITY, type RpcError } from "../protocol/rpc-error.ts";
import { TASKS_EXTENSION } from "../protocol/server-identity.ts";
import type { CallTasks } from "./call-tasks.ts";

const METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/cancel", "tasks/update"]);

/** Whether a method is one of the extension. */
export function isTaskMethod(method: string): boolean {
  return METHODS.has(method);
}

/** Whether the client of a request, whose `_meta` this is, has said that it knows tasks. */
export function knowsTasks(meta: unknown): boolean {
  const capabilities = isJsonObject(meta) ? meta[META_CLIENT_CAPABILITIES] : undefined;
  const extensions = isJsonObject(capabilities) ? capabilities["extensions"] : undefined;
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

/** The result of such a request, or why there is none. */
export function answerTask(
  tasks: CallTasks,
  { method, params }: JSONRPCRequest,
): { readonly result: JsonObject } | { readonly error: RpcError } {
  if (!knowsTasks(params?._meta)) {
    const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
    return { error: { code: MISSING_CAPABILITY, message: `\`${method}\` needs the extension of tasks`, data } };
  }
  const id = params?.["taskId"];
  const known = typeof id === "string" ? tasks.get(id) : undefined;
  if (known === undefined || typeof id !== "string")
    return { error: { code: INVALID_PARAMS, message: "there is no such task (any more); make the call again" } };
  if (method === "tasks/get") return { result: known };
  if (method === "tasks/cancel") tasks.cancel(id);
  return { result: { resultType: "complete" } }; // a task here asks for nothing, so that an update changes nothing
}
