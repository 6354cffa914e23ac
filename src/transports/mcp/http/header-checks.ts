/**
 * Checks the HTTP headers of a request to the MCP door.
 *
 * INVARIANTS: a body is read only where it is said to be JSON. A modern request whose headers name another revision,
 * method or object than its body is refused: whoever routes or filters by headers has seen what is done.
 */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../../base/json.ts";
import { META_PROTOCOL_VERSION, MODERN_REVISION } from "../protocol/revisions.ts";
import { HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, type RpcError, shortened } from "../protocol/rpc-error.ts";
import { plainText } from "./header-text.ts";
import { type HttpRequest, headerOf } from "./http-types.ts";

/** Header that names the revision, in both eras. */
export const PROTOCOL_VERSION_HEADER = "mcp-protocol-version";
/** Header that names a legacy session. */
export const SESSION_HEADER = "mcp-session-id";
/** Header by which a client asks for the events after one that it has seen. */
export const LAST_EVENT_HEADER = "last-event-id";

/** Type of a JSON body. */
const JSON_TYPE = "application/json";
/** Type of a stream of events. */
const EVENTS_TYPE = "text/event-stream";

/** An HTTP refusal with the error that explains it. */
export interface HttpRefusal {
  readonly status: number;
  readonly error: RpcError;
  /** The request that it answers, if that is certain. */
  readonly id?: string | number | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Why a POST with these headers is not read. */
export function refusePost(request: HttpRequest): HttpRefusal | undefined {
  const type = mediaType(headerOf(request, "content-type"));
  if (type !== JSON_TYPE)
    return refusal(
      415,
      `the content type must be \`${JSON_TYPE}\`${type === "" ? "" : `, not \`${shortened(type)}\``}`,
    );
  const encoding = headerOf(request, "content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    return refusal(415, "compressed bodies are not read; send the JSON as it is");
  if (accepts(request, JSON_TYPE) && accepts(request, EVENTS_TYPE)) return undefined;
  return refusal(406, `the header \`accept\` must list both \`${JSON_TYPE}\` and \`${EVENTS_TYPE}\``);
}

/** Why a GET with these headers gets no stream. */
export function refuseGet(request: HttpRequest): HttpRefusal | undefined {
  return accepts(request, EVENTS_TYPE)
    ? undefined
    : refusal(406, `the header \`accept\` must list \`${EVENTS_TYPE}\`: a GET opens a stream of events`);
}

/** The member of a request's parameters that the header `mcp-name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Why the headers of a request that claims the modern era do not go with its body. */
export function refuseModernHeaders(request: HttpRequest, message: JSONRPCRequest): HttpRefusal | undefined {
  const { method, params } = message;
  const revision = params?._meta?.[META_PROTOCOL_VERSION];
  const named = trimmed(headerOf(request, PROTOCOL_VERSION_HEADER));
  if (named === undefined) return mismatch(PROTOCOL_VERSION_HEADER, "is missing; send the revision that `_meta` names");
  if (named !== revision) return mismatch(PROTOCOL_VERSION_HEADER, "names another revision than `_meta`");
  const verb = trimmed(headerOf(request, "mcp-method"));
  if (verb === undefined) return mismatch("mcp-method", "is missing; send the method of the request");
  if (verb !== method) return mismatch("mcp-method", "names another method than the body");
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const value: unknown = member === undefined ? undefined : params?.[member];
  if (typeof value !== "string") return undefined;
  const name = trimmed(headerOf(request, "mcp-name"));
  if (name === undefined) return mismatch("mcp-name", `is missing; send \`params.${member}\``);
  return plainText(name) === value ? undefined : mismatch("mcp-name", `is not \`params.${member}\``);
}

/** Why a request that claims no era in its body is none of the legacy era. */
export function refuseLegacyHeaders(
  request: HttpRequest,
  revisions: ReadonlySet<string>,
  message: unknown,
): HttpRefusal | undefined {
  const named = trimmed(headerOf(request, PROTOCOL_VERSION_HEADER));
  if (named === undefined || revisions.has(named)) return undefined;
  if (named !== MODERN_REVISION) {
    const said = [...revisions, MODERN_REVISION].join("`, `");
    return refusal(400, `revision \`${shortened(named)}\` is not spoken; use one of \`${said}\``);
  }
  const method = isJsonObject(message) ? message["method"] : undefined;
  if (method === "initialize")
    return mismatch(PROTOCOL_VERSION_HEADER, "names a revision that has no `initialize`; leave one of both out");
  const error = {
    code: INVALID_PARAMS,
    message: `requests of revision \`${MODERN_REVISION}\` carry \`${META_PROTOCOL_VERSION}\` in \`_meta\``,
  };
  return { status: 400, error };
}

/** A refusal of a request that is none of JSON-RPC, or not taken as such. */
export function refusal(status: number, message: string): HttpRefusal {
  return { status, error: { code: INVALID_REQUEST, message } };
}

function mismatch(header: string, problem: string): HttpRefusal {
  return { status: 400, error: { code: HEADER_MISMATCH, message: `the header \`${header}\` ${problem}` } };
}

function accepts(request: HttpRequest, type: string): boolean {
  const accepted = headerOf(request, "accept");
  if (accepted === undefined) return true;
  const group = `${type.slice(0, type.indexOf("/"))}/*`;
  return accepted.split(",").some((each) => [type, group, "*/*"].includes(mediaType(each)));
}

function mediaType(text: string | undefined): string {
  return (text ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function trimmed(value: string | undefined): string | undefined {
  return value?.trim();
}
