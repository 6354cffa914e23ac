/**
 * Serves MCP over HTTP in both eras: one path that takes messages, and one that pipes lines.
 *
 * Each request is admitted by the kernel, by its bearer token, before its body is read. The era of a request depends on
 * the request alone, as over standard streams, and so does everything behind: calls take the same way.
 *
 * INVARIANTS: nothing is read of a caller whose token opens no session. A request is answered once. A legacy session is
 * reached only with the token that began it.
 */
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { textOf } from "../../../base/bytes.ts";
import { isJsonObject } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import type { Session } from "../../../model/people/session.ts";
import { asksForLegacy, DirectCalls } from "../direct-calls.ts";
import { type Classified, classify } from "../protocol/json-rpc.ts";
import type { McpOptions } from "../protocol/options.ts";
import { LEGACY_REVISIONS } from "../protocol/plain-requests.ts";
import { modernMeta } from "../protocol/revisions.ts";
import { PARSE_ERROR, printError } from "../protocol/rpc-error.ts";
import { serveMcp } from "../server.ts";
import { refuseArgumentHeaders } from "./argument-headers.ts";
import {
  type HttpRefusal,
  LAST_EVENT_HEADER,
  PROTOCOL_VERSION_HEADER,
  refusal,
  refuseGet,
  refuseLegacyHeaders,
  refuseModernHeaders,
  refusePost,
  SESSION_HEADER,
} from "./header-checks.ts";
import { headerOf, type McpHttpRequest } from "./http-types.ts";
import { LegacySessions } from "./legacy-sessions.ts";
import { ModernExchange } from "./modern-exchange.ts";
import { Outlet } from "./outlet.ts";
import { type Principal, Principals } from "./principals.ts";
import { challenge, isMetadataPath, LINES_PATH, MCP_PATH, resourceMetadata } from "./resource-metadata.ts";

/** Milliseconds between two looks for sessions that were revoked while something is open of them. */
const REVOKED_LOOK_MS = 2000;

/** What the door is bound to. */
export interface McpHttpHost {
  readonly door: McpOptions["door"];
  readonly newRequestId: () => string;
  /** The options of one session's client. */
  readonly optionsOf: (token: string, session: Session) => McpOptions;
}

/** MCP over HTTP. */
export class McpHttp {
  readonly #host: McpHttpHost;
  readonly #principals = new Principals();
  readonly #sessions = new LegacySessions();
  #looking: NodeJS.Timeout | undefined;

  constructor(host: McpHttpHost) {
    this.#host = host;
  }

  /** Whether a path is one of this door. */
  owns(path: string): boolean {
    return path === MCP_PATH || path === LINES_PATH || isMetadataPath(path);
  }

  /** Serves one request; resolves when it is over. */
  async serve(http: McpHttpRequest): Promise<void> {
    const { request, response, stallMs } = http;
    const outlet = new Outlet(response, stallMs);
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (isMetadataPath(path)) {
      if (request.method === "GET" || request.method === "HEAD") outlet.json(200, resourceMetadata(request));
      else outlet.bare(405, { allow: "GET, HEAD" });
    } else {
      const refused = await this.#admit(http, path, outlet);
      if (refused !== undefined) refuse(outlet, refused);
    }
    await outlet.over;
  }

  /** Ends every legacy session. */
  close(): void {
    clearInterval(this.#looking);
    this.#sessions.close();
    this.#principals.close();
  }

  /** Admits a request by its token and serves it. @returns why not */
  async #admit(http: McpHttpRequest, path: string, outlet: Outlet): Promise<HttpRefusal | undefined> {
    const { request, token } = http;
    if (http.refusal !== undefined) return refusal(503, http.refusal);
    if (token === undefined) {
      await this.#host.door.recordRefusal(NOBODY);
      return { ...refusal(401, NOBODY.message), headers: challenge(request) };
    }
    const admission = await this.#host.door.admit({ requestId: this.#host.newRequestId(), sessionToken: token });
    if (admission.kind === "admitted") {
      this.#looking ??= setInterval(() => void this.#endRevoked(), REVOKED_LOOK_MS).unref();
      const principal = this.#principals.of(token, () => this.#host.optionsOf(token, admission.session));
      return path === LINES_PATH ? serveLines(http, principal, outlet) : this.#route(http, principal, outlet);
    }
    const { outcome } = admission.response;
    if (outcome.kind !== "denied") return refusal(503, "the kernel could not answer; tell the operator");
    if (outcome.denial.layer !== "authenticate") return refusal(403, outcome.denial.message);
    this.#end(token);
    return { ...refusal(401, outcome.denial.message), headers: challenge(request, "invalid_token") };
  }

  /** Ends what is open or at work for a token that opens no session any more. */
  async #endRevoked(): Promise<void> {
    for (const token of new Set([...this.#principals.busy, ...this.#sessions.tokens])) {
      const admission = await this.#host.door.admit({ requestId: this.#host.newRequestId(), sessionToken: token });
      if (admission.kind === "admitted") continue;
      const { outcome } = admission.response;
      if (outcome.kind === "denied" && outcome.denial.layer === "authenticate") this.#end(token);
    }
  }

  #end(token: string): void {
    this.#principals.end(token);
    this.#sessions.endAllOf(token);
  }

  #route(
    http: McpHttpRequest,
    principal: Principal,
    outlet: Outlet,
  ): Promise<HttpRefusal | undefined> | HttpRefusal | undefined {
    switch (http.request.method) {
      case "POST":
        return this.#post(http, principal, outlet);
      case "GET":
        return this.#get(http, principal, outlet);
      case "DELETE":
        return this.#delete(http, principal, outlet);
      default:
        return outlet.bare(405, { allow: "GET, POST, DELETE" });
    }
  }

  async #post(http: McpHttpRequest, principal: Principal, outlet: Outlet): Promise<HttpRefusal | undefined> {
    const wrong = refusePost(http.request);
    if (wrong !== undefined) return wrong;
    const body = await http.readBody();
    if (body.kind === "gone") return undefined; // nobody waits for an answer
    if (body.kind === "refused") return { ...refusal(body.status, body.message), headers: { connection: "close" } };
    const text = textOf(Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength));
    const parsed = text === undefined ? ({ ok: false, problem: "it is not UTF-8" } as const) : parseJson(text);
    if (!parsed.ok) {
      const error = { code: PARSE_ERROR, message: `the body is refused: ${parsed.problem}` };
      return { status: 400, error };
    }
    const { value } = parsed;
    if (Array.isArray(value)) return this.#postBatch(http, principal, { values: value, outlet });
    const classified = classify(value);
    if (classified === undefined) return refusal(400, "the body is not a JSON-RPC 2.0 message");
    if (classified.kind === "request" && claimsModern(classified.message))
      return serveModern(http, principal, { message: classified.message, outlet });
    // A modern request is cancelled by closing its response, so that a modern notification says nothing.
    if (classified.kind === "notification" && modernMeta(classified.message.params) !== undefined)
      return outlet.bare(202);
    return this.#postLegacy(http, principal, { messages: [classified], isBatch: false, outlet });
  }

  #postBatch(
    http: McpHttpRequest,
    principal: Principal,
    { values, outlet }: { readonly values: readonly unknown[]; readonly outlet: Outlet },
  ): HttpRefusal | undefined {
    const known = values.map(classify).filter((message) => message !== undefined);
    if (known.length < values.length)
      return refusal(400, "the batch contains something that is no JSON-RPC 2.0 message");
    if (values.some((value) => isJsonObject(value) && modernMeta(value["params"]) !== undefined))
      return refusal(400, "the modern era has no batches; send each request by itself");
    return this.#postLegacy(http, principal, { messages: known, isBatch: true, outlet });
  }

  #postLegacy(
    { request }: McpHttpRequest,
    principal: Principal,
    { messages, isBatch, outlet }: LegacyPost,
  ): HttpRefusal | undefined {
    const [first] = messages;
    const asked = first?.kind === "request" ? first.message : undefined;
    const wrong = refuseLegacyHeaders(request, LEGACY_REVISIONS, asked);
    if (wrong !== undefined) return { ...wrong, id: asked?.id ?? null };
    const id = headerOf(request, SESSION_HEADER);
    const begins = !isBatch && asked?.method === "initialize";
    if (id === undefined && !begins) return { ...NO_SESSION, id: asked?.id ?? null };
    const session = id === undefined ? this.#sessions.begin(principal) : this.#sessions.find(id, principal);
    if (session === undefined) return { ...(id === undefined ? TOO_MANY : UNKNOWN_SESSION), id: asked?.id ?? null };
    if (id === undefined) void outlet.over.then(() => (session.hasBegun ? undefined : this.#sessions.end(session)));
    return session.post(messages, isBatch, outlet);
  }

  #get({ request }: McpHttpRequest, principal: Principal, outlet: Outlet): HttpRefusal | undefined {
    const id = headerOf(request, SESSION_HEADER);
    if (id === undefined) return outlet.bare(405, { allow: "POST" });
    const wrong = refuseGet(request) ?? refuseLegacyHeaders(request, LEGACY_REVISIONS, undefined);
    if (wrong !== undefined) return wrong;
    const session = this.#sessions.find(id, principal);
    if (session === undefined) return UNKNOWN_SESSION;
    const last = headerOf(request, LAST_EVENT_HEADER);
    return last === undefined ? session.listen(outlet) : session.resume(last, outlet);
  }

  #delete({ request }: McpHttpRequest, principal: Principal, outlet: Outlet): HttpRefusal | undefined {
    const id = headerOf(request, SESSION_HEADER);
    if (id === undefined) return outlet.bare(405, { allow: "POST" });
    const session = this.#sessions.find(id, principal);
    if (session === undefined) return UNKNOWN_SESSION;
    this.#sessions.end(session);
    return outlet.bare(204);
  }
}

/** Serves one request of the modern era. @returns why not */
async function serveModern(
  { request, shutdownSignal }: McpHttpRequest,
  { options, modern, open }: Principal,
  { message, outlet }: { readonly message: JSONRPCRequest; readonly outlet: Outlet },
): Promise<HttpRefusal | undefined> {
  const mismatch = refuseModernHeaders(request, message) ?? refuseArguments(request, options.door, message);
  if (mismatch !== undefined) return { ...mismatch, id: message.id };
  const exchange = new ModernExchange(outlet);
  const calls = new DirectCalls(exchange, options, modern);
  calls.onerror = options.onError;
  await calls.start();
  const stop = () => void exchange.close();
  shutdownSignal.addEventListener("abort", stop);
  const refuseRevoked = () => {
    outlet.bare(401, challenge(request, "invalid_token")); // where nothing has been answered yet
    stop();
  };
  open.add(refuseRevoked);
  exchange.deliver(message);
  await outlet.over;
  open.delete(refuseRevoked);
  shutdownSignal.removeEventListener("abort", stop);
  return undefined;
}

/** Why the headers of a call do not go with its arguments; other requests have none. */
function refuseArguments(
  request: McpHttpRequest["request"],
  door: McpOptions["door"],
  { method, params }: JSONRPCRequest,
): HttpRefusal | undefined {
  const tool = method === "tools/call" ? door.tool(String(params?.["name"])) : undefined;
  return tool && refuseArgumentHeaders(request, tool.inputSchema, params?.["arguments"]);
}

interface LegacyPost {
  readonly messages: readonly Classified[];
  readonly isBatch: boolean;
  readonly outlet: Outlet;
}

/** Pipes lines as over standard streams: the client is `handrail mcp --connect`. */
async function serveLines(
  http: McpHttpRequest,
  principal: Principal,
  outlet: Outlet,
): Promise<HttpRefusal | undefined> {
  const { request, response, shutdownSignal } = http;
  if (request.method !== "POST") return outlet.bare(405, { allow: "POST" });
  if ("stream" in request || "stream" in response) return refusal(505, "lines are piped over HTTP/1.1 alone");
  if (principal.lines >= TOKEN_LINES_MAX) return TOO_MANY_LINES;
  principal.lines += 1;
  const stop = () => void response.destroy();
  shutdownSignal.addEventListener("abort", stop);
  principal.open.add(stop);
  try {
    response.writeHead(200, { "content-type": "application/jsonl", "cache-control": "no-store" });
    response.flushHeaders();
    await serveMcp(principal.options, request, response);
  } finally {
    principal.lines -= 1;
    principal.open.delete(stop);
    shutdownSignal.removeEventListener("abort", stop);
    response.end();
  }
  return undefined;
}

function refuse(outlet: Outlet, { status, error, id = null, headers = {} }: HttpRefusal): void {
  outlet.json(status, printError(id, error), headers);
}

/** Whether a request claims the modern era; an `initialize` does only by naming its revision. */
function claimsModern({ method, params }: JSONRPCRequest): boolean {
  const meta = modernMeta(params);
  return meta !== undefined && !asksForLegacy(method, meta);
}

const NO_SESSION = refusal(
  400,
  `begin with \`initialize\` and repeat the header \`${SESSION_HEADER}\` of its answer, or send \`${PROTOCOL_VERSION_HEADER}\` and \`_meta\` of the modern era with each request`,
);
const UNKNOWN_SESSION = refusal(404, "there is no such session (any more); begin another one with `initialize`");
const TOO_MANY = refusal(429, "too many sessions are in use; end one with DELETE");
/** Relays that one token may have at a time: connections are for the agents of all users. */
export const TOKEN_LINES_MAX = 64;
const TOO_MANY_LINES = refusal(429, `${TOKEN_LINES_MAX} relays have joined with this token; end one of them`);

const NOBODY = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "SESSION:missing",
  message:
    "MCP wants the header `authorization: Bearer TOKEN` with the token of a session; `handrail sessions create` makes one",
} as const;
