/**
 * Refuses bad requests of either era before the protocol library would see them.
 *
 * These are requests that the library would drop unanswered, or answer with its own internals. They are checked by
 * hand, because every request passes here. Nothing that is decided depends on it.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { META_RELATED_TASK } from "./revisions.ts";
import { INVALID_PARAMS, type RpcError } from "./rpc-error.ts";

/** What is missing from the parameters of a legacy `initialize`, or `undefined`. */
export function handshakeError(parameters: unknown): RpcError | undefined {
  const { protocolVersion, capabilities, clientInfo } = isJsonObject(parameters) ? parameters : ({} as JsonObject);
  if (typeof protocolVersion === "string" && isJsonObject(capabilities) && isImplementation(clientInfo))
    return undefined;
  const message =
    "`initialize` needs a `protocolVersion`, the client's `capabilities`, and a `clientInfo` with a `name` and a `version`";
  return { code: INVALID_PARAMS, message };
}

/**
 * What is wrong with the metadata of a request, or `undefined`: the library drops a request with bent metadata
 * unanswered.
 */
export function metaError(parameters: unknown): RpcError | undefined {
  const meta = isJsonObject(parameters) ? parameters["_meta"] : undefined;
  if (meta === undefined) return undefined;
  if (!isJsonObject(meta)) return { code: INVALID_PARAMS, message: "`_meta` must be an object" };
  const { progressToken: token, [META_RELATED_TASK]: task } = meta;
  if (token !== undefined && !isProgressToken(token)) return wrong("progressToken", "must be text or an integer");
  const isTask = task === undefined || (isJsonObject(task) && typeof task["taskId"] === "string");
  return isTask ? undefined : wrong(META_RELATED_TASK, "must be an object with a `taskId`");
}

/** What is wrong with the cursor of a list; the library would answer with its own insides. */
export function cursorError(method: string, parameters: unknown): RpcError | undefined {
  const cursor = method.endsWith("/list") && isJsonObject(parameters) ? parameters["cursor"] : undefined;
  return cursor === undefined || typeof cursor === "string"
    ? undefined
    : { code: INVALID_PARAMS, message: "`cursor` must be text" };
}

/** Whether `value` can name the progress of a request. */
export function isProgressToken(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function isImplementation(value: unknown): boolean {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

function wrong(member: string, problem: string): RpcError {
  return { code: INVALID_PARAMS, message: `\`_meta["${member}"]\` ${problem}` };
}
