/**
 * The modern era of MCP (revision 2026-07-28): each request carries its revision and is answered from itself alone.
 *
 * `tools/call` is not here, it goes to the kernel; everything else is answered at once, from texts that are printed
 * once. Trusts nothing about a request but its shape as JSON-RPC. INVARIANTS: nothing depends on an earlier request;
 * every result says that it is complete and who gave it; the server never sends requests or log messages.
 */
import type { JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { LIST_FRESH_MS } from "../../base/limits.ts";
import { envelopeError } from "./envelope.ts";
import { META_SERVER_INFO, META_SUBSCRIPTION_ID, MODERN_REVISION } from "./revisions.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, quoted, type RpcError } from "./rpc-error.ts";
import type { ServerIdentity } from "./server-identity.ts";

/** What a modern request comes to: lines to send, a refusal, or a call for the kernel. */
export type ModernAnswer =
  | { readonly kind: "lines"; readonly notes: readonly string[]; readonly answer: string }
  | { readonly kind: "refused"; readonly error: RpcError }
  | { readonly kind: "call" };

/** What the modern era is answered from. */
export interface ModernSource {
  readonly identity: ServerIdentity;
  /** The tools as MCP's objects. */
  readonly tools: () => readonly JsonObject[];
}

/** Answers the requests of the modern era. */
export class ModernEra {
  /** The members that every result begins with, as JSON with a comma at its end. */
  readonly resultHead: string;
  readonly #source: ModernSource;
  #discovery: string | undefined;
  #list: string | undefined;

  constructor(source: ModernSource) {
    this.#source = source;
    this.resultHead = `"resultType":"complete","_meta":${JSON.stringify(this.#meta())},`;
  }

  /** The answer to a request whose `_meta` is `meta`. */
  answer(request: JSONRPCRequest, meta: JsonObject): ModernAnswer {
    const error = envelopeError(meta);
    if (error !== undefined) return { kind: "refused", error };
    const parameters: Readonly<Record<string, unknown>> = request.params ?? {};
    switch (request.method) {
      case "tools/call":
        // No state was ever handed out, so that whoever brings one did not get it here.
        return parameters["requestState"] === undefined
          ? { kind: "call" }
          : refuse("`requestState` is none of this server's; leave it out");
      case "tools/list":
        if (parameters["cursor"] !== undefined) return refuse("`cursor` is none of this server's; the list has one page, ask without it");
        return result(request.id, this.#toolList());
      case "server/discover":
        return result(request.id, this.#discover());
      case "subscriptions/listen":
        return this.#listen(request.id, parameters["notifications"]);
      default: {
        const message = `there is no method ${quoted(request.method)} in revision ${MODERN_REVISION} of this server; \`server/discover\` says what there is`;
        return { kind: "refused", error: { code: METHOD_NOT_FOUND, message } };
      }
    }
  }

  #discover(): string {
    const { capabilities, instructions } = this.#source.identity;
    this.#discovery ??= this.#cacheable({ supportedVersions: [MODERN_REVISION], capabilities, instructions });
    return this.#discovery;
  }

  #toolList(): string {
    this.#list ??= this.#cacheable({ tools: this.#source.tools() });
    return this.#list;
  }

  /** Nothing that can be listened to ever changes here: the subscription is acknowledged for nothing, and ends. */
  #listen(id: RequestId, filter: unknown): ModernAnswer {
    if (!isFilter(filter)) return refuse("`notifications` must say what to listen to; see `subscriptions/listen`");
    const acknowledged = { _meta: { [META_SUBSCRIPTION_ID]: id }, notifications: {} };
    const note = JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: acknowledged });
    const body = JSON.stringify({ resultType: "complete", _meta: { ...this.#meta(), [META_SUBSCRIPTION_ID]: id } });
    return { ...result(id, body), notes: [note] };
  }

  #meta(): JsonObject {
    return { [META_SERVER_INFO]: this.#source.identity.serverInfo };
  }

  /** The same for everybody whom this process serves, which is one: another session may be shown something else. */
  #cacheable(body: JsonObject): string {
    const hints = { ttlMs: LIST_FRESH_MS, cacheScope: "private" };
    return `{${this.resultHead}${JSON.stringify({ ...body, ...hints }).slice(1)}`;
  }
}

function result(id: RequestId, body: string): Extract<ModernAnswer, { kind: "lines" }> {
  return { kind: "lines", notes: [], answer: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${body}}` };
}

function refuse(message: string): ModernAnswer {
  return { kind: "refused", error: { code: INVALID_PARAMS, message } };
}

function isFilter(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions: uris } = value;
  const switches = [toolsListChanged, promptsListChanged, resourcesListChanged];
  if (!switches.every((wish) => wish === undefined || typeof wish === "boolean")) return false;
  return uris === undefined || (Array.isArray(uris) && uris.every((uri) => typeof uri === "string"));
}
