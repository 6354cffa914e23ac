/**
 * What a client must say of itself: in the metadata of every modern request (revision 2026-07-28), or once in the legacy
 * handshake. It is complete and of the right types, or the request is refused before anything else is looked at.
 *
 * Checked by hand, because every call passes here. Nothing that is decided depends on it: who a client says it is and
 * what it says it can do are not believed, only required. Members that are not known are allowed and ignored.
 */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_RELATED_TASK,
  MODERN_REVISION,
} from "./revisions.ts";
import { INVALID_PARAMS, quoted, type RpcError, shortened, UNSUPPORTED_PROTOCOL_VERSION } from "./rpc-error.ts";

const LOG_LEVELS: ReadonlySet<unknown> = new Set(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);
/** Capabilities that the revision defines; each is an object when it is there. */
const CAPABILITIES = ["elicitation", "experimental", "extensions", "roots", "sampling"] as const;

/** What is wrong with the metadata of a modern request, or `undefined`. The revision comes first: another one may have other rules. */
export function envelopeError(meta: JsonObject): RpcError | undefined {
  const requested = meta[META_PROTOCOL_VERSION];
  if (typeof requested !== "string") return wrong(META_PROTOCOL_VERSION, "must be text");
  if (requested !== MODERN_REVISION) return unsupported(requested);
  const capabilities = meta[META_CLIENT_CAPABILITIES];
  if (capabilities === undefined) return wrong(META_CLIENT_CAPABILITIES, "is missing; send `{}` if the client has none");
  if (!isJsonObject(capabilities)) return wrong(META_CLIENT_CAPABILITIES, "must be an object");
  const bent = CAPABILITIES.find((name) => capabilities[name] !== undefined && !isJsonObject(capabilities[name]));
  if (bent !== undefined) return wrong(`${META_CLIENT_CAPABILITIES}.${bent}`, "must be an object");
  return optionalMembersError(meta);
}

/** What is missing from the parameters of a legacy `initialize`, or `undefined`. */
export function handshakeError(parameters: unknown): RpcError | undefined {
  const { protocolVersion, capabilities, clientInfo } = isJsonObject(parameters) ? parameters : ({} as JsonObject);
  if (typeof protocolVersion === "string" && isJsonObject(capabilities) && isImplementation(clientInfo)) return undefined;
  const message = "`initialize` needs a `protocolVersion`, the client's `capabilities`, and a `clientInfo` with a `name` and a `version`";
  return { code: INVALID_PARAMS, message };
}

/** What is wrong with the metadata of a legacy request, or `undefined`: the library drops a request with bent metadata unanswered. */
export function legacyMetaError(parameters: unknown): RpcError | undefined {
  const meta = isJsonObject(parameters) ? parameters["_meta"] : undefined;
  if (meta === undefined) return undefined;
  if (!isJsonObject(meta)) return { code: INVALID_PARAMS, message: "`_meta` must be an object" };
  const { progressToken: token, [META_RELATED_TASK]: task } = meta;
  if (token !== undefined && !isProgressToken(token)) return wrong("progressToken", "must be text or an integer");
  const isTask = task === undefined || (isJsonObject(task) && typeof task["taskId"] === "string");
  return isTask ? undefined : wrong(META_RELATED_TASK, "must be an object with a `taskId`");
}

/** What is wrong with the cursor of a legacy list; the library would answer with its own insides. */
export function cursorError(method: string, parameters: unknown): RpcError | undefined {
  const cursor = method.endsWith("/list") && isJsonObject(parameters) ? parameters["cursor"] : undefined;
  return cursor === undefined || typeof cursor === "string" ? undefined : { code: INVALID_PARAMS, message: "`cursor` must be text" };
}

/** Whether `value` can name the progress of a request. */
export function isProgressToken(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function optionalMembersError(meta: JsonObject): RpcError | undefined {
  const client = meta[META_CLIENT_INFO];
  if (client !== undefined && !isImplementation(client)) {
    return wrong(META_CLIENT_INFO, "must be an object with a `name` and a `version`");
  }
  const level = meta[META_LOG_LEVEL];
  if (level !== undefined && !LOG_LEVELS.has(level)) return wrong(META_LOG_LEVEL, "must be a log level such as `info`");
  const token = meta["progressToken"];
  return token === undefined || isProgressToken(token) ? undefined : wrong("progressToken", "must be text or an integer");
}

function isImplementation(value: unknown): boolean {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

function wrong(member: string, problem: string): RpcError {
  return { code: INVALID_PARAMS, message: `\`_meta["${member}"]\` ${problem}` };
}

function unsupported(requested: string): RpcError {
  return {
    code: UNSUPPORTED_PROTOCOL_VERSION,
    message: `revision ${quoted(requested)} is not spoken in \`_meta\`; use \`${MODERN_REVISION}\` there, or begin with \`initialize\` for an earlier one`,
    data: { supported: [MODERN_REVISION], requested: shortened(requested) },
  };
}
