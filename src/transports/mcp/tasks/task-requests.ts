/** Answers the requests of the tasks extension. */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO } from "../protocol/revisions.ts";
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

/** The result of such a request, or why there is none; `onUnasked` is told of answers to what is not asked. */
export function answerTask(
  tasks: CallTasks,
  { method, params }: JSONRPCRequest,
  onUnasked: () => void,
): { readonly result: JsonObject } | { readonly error: RpcError } {
  if (!knowsTasks(params?._meta)) return { error: noTasks(`\`${method}\``) };
  const id = params?.["taskId"];
  const known = typeof id === "string" ? tasks.get(id) : undefined;
  if (known === undefined || typeof id !== "string")
    return { error: { code: INVALID_PARAMS, message: "there is no such task (any more); make the call again" } };
  if (method === "tasks/get") return { result: known };
  if (method === "tasks/cancel") tasks.cancel(id);
  else {
    const responses = params?.["inputResponses"];
    if (!isJsonObject(responses))
      return { error: { code: INVALID_PARAMS, message: "`inputResponses` must hold answers by their keys" } };
    if (tasks.update(id, responses, clientNameOf(params?._meta)) !== true) onUnasked();
  }
  return { result: { resultType: "complete" } };
}

/** Why what a client asked for, which cannot be had without tasks, is refused. */
function noTasks(what: string): RpcError {
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  return { code: MISSING_CAPABILITY, message: `${what} needs the extension of tasks`, data };
}

/** The name that the client of a request, whose `_meta` this is, gives itself. */
export function clientNameOf(meta: unknown): string {
  const client = isJsonObject(meta) ? meta[META_CLIENT_INFO] : undefined;
  const name = isJsonObject(client) ? client["name"] : undefined;
  return typeof name === "string" ? name : "";
}
