/**
 * Names the supported revisions of MCP and reads the revision of a request.
 *
 * There are two eras. A modern request (2026-07-28) carries its revision in `_meta` and stands for itself. A legacy one
 * (2025-11-25 and before) relies on an `initialize` that came earlier.
 *
 * INVARIANT: the era of a request depends on the request alone. Whoever claims the modern era is judged by its rules,
 * never served by the other's.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";

/** The modern revision: every request carries all that is needed to answer it. */
export const MODERN_REVISION = "2026-07-28";
/** The only revision whose messages may come as an array. */
export const BATCH_REVISION = "2025-03-26";

/** Legacy revisions in which the server can ask the person at the client for something. */
export const ELICITATION_REVISIONS: ReadonlySet<string> = new Set(["2025-11-25", "2025-06-18"]);

/** Member of a request's `_meta`: its revision. Its presence is the claim to be modern. */
export const META_PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
/** Member of a request's `_meta`: who asks; for display alone. */
export const META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
/** Member of a request's `_meta`: what the client can do, for this request. */
export const META_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
/** Member of a request's `_meta`: from which level on it wants log messages. */
export const META_LOG_LEVEL = "io.modelcontextprotocol/logLevel";
/** Member of a legacy request's `_meta`: a task that it belongs to. */
export const META_RELATED_TASK = "io.modelcontextprotocol/related-task";
/** Member of a result's `_meta`: who answers. */
export const META_SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** Methods that only the modern era has. */
const MODERN_METHODS: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);

/** `_meta` of a request whose parameters claim the modern era, or `undefined`. */
export function modernMeta(parameters: unknown): JsonObject | undefined {
  const meta = isJsonObject(parameters) ? parameters["_meta"] : undefined;
  return isJsonObject(meta) && META_PROTOCOL_VERSION in meta ? meta : undefined;
}

/** Whether a method exists in the modern era alone. */
export function isModernOnly(method: string): boolean {
  return MODERN_METHODS.has(method);
}
