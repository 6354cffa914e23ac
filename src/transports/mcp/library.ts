/**
 * Answers with the protocol library's server the requests that the fast paths of both eras leave.
 *
 * The library never sees a tool call: those are made before it. Loading it takes some 40 ms and 7 MiB, so it is loaded
 * only for a request that needs it.
 *
 * A legacy client has one server for its connection, a modern request one for itself: the library binds a connection to
 * the era of its first message, and from the second on takes the era for granted. INVARIANT: what is asked in the
 * modern era is answered, from that request alone, and no answer repeats what the client sent at any length.
 */
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  Server,
  type ServerOptions,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { assert } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ListPages } from "./features/pages.ts";
import { pageAt, registerFeatures } from "./features/register.ts";
import type { McpFeatures } from "./protocol/features.ts";
import { MODERN_REVISION } from "./protocol/revisions.ts";
import { shortened } from "./protocol/rpc-error.ts";
import { CACHE_HINT, type ServerIdentity } from "./protocol/server-identity.ts";

/**
 * Characters (UTF-16 code units) of an error message of the MCP library, whose longest own text is some 250: the rest
 * is the client's.
 */
export const RPC_ERROR_CHARACTERS_MAX = 512;

/** What the library answers from. */
export interface LibrarySource {
  readonly identity: ServerIdentity;
  /** The tools as MCP's objects. */
  readonly tools: () => Promise<readonly JsonObject[]>;
  /** How its lists are cut. */
  readonly pages: ListPages;
  /** Calls `listener` after each change of the tools, until the returned function is called; looks while `isAwake`. */
  readonly watch: (listener: () => void, isAwake?: () => boolean) => () => void;
  /** What is offered beside tools. */
  readonly features?: McpFeatures | undefined;
  /** Milliseconds after which a call of a client without tasks is held. */
  readonly heldAfterMs?: number | undefined;
  readonly onError: (error: Error) => void;
}

/** Connects the library to the transport of a legacy client. */
export async function connectLegacy(source: LibrarySource, transport: Transport): Promise<void> {
  await createServer(source).connect(transport);
}

/** Whether the library takes `request` for a modern one: its envelope holds, and its revision is spoken. */
export function acceptsModern(request: JSONRPCRequest): boolean {
  const route = classifyInboundRequest({ httpMethod: "POST", body: request });
  return route.kind === "modern" && route.classification.revision === MODERN_REVISION;
}

/** Who asks: when it is gone, and how it is told of what comes before the answer. */
export interface AskingClient {
  readonly signal: AbortSignal;
  readonly note: (message: JSONRPCMessage) => void;
}

/**
 * What the library answers to a request that claims the modern era. A subscription is answered when its client ends it.
 */
export function askModern(
  source: LibrarySource,
  request: JSONRPCRequest,
  { signal, note }: AskingClient,
): Promise<JSONRPCMessage> {
  assert(isJSONRPCRequest(request), "the library would leave the request unanswered");
  return new Promise((resolve) => {
    let server: Server | undefined;
    const unwatch: (() => void)[] = [];
    const end = () => {
      signal.removeEventListener("abort", end);
      for (const each of unwatch.splice(0)) each();
      void entry.close();
    };
    const wire: Transport = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message) => {
        if ("method" in message) {
          note(message);
          // Closing a subscription is what answers it; one of which nothing changes here ends at once.
          if (message.method !== ACKNOWLEDGED) return Promise.resolve();
          if (server !== undefined) unwatch.push(...listenFor(source, server, message.params));
          if (unwatch.length === 0) void entry.close();
        } else {
          resolve(bounded(message));
          end();
        }
        return Promise.resolve();
      },
    };
    const serve = () => {
      server = createServer(source, CACHE_HINTS);
      return server;
    };
    const entry = serveStdio(serve, {
      transport: wire,
      legacy: "reject",
      // a refusal concerns the client alone
      onerror: (error) => (error instanceof ProtocolError ? undefined : source.onError(error)),
    });
    signal.addEventListener("abort", end);
    wire.onmessage?.(request);
  });
}

/** How a subscription begins. */
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** Begins to tell of what a subscription was acknowledged for. @returns what ends it, for each thing that can change */
function listenFor(source: LibrarySource, server: Server, acknowledged: unknown): (() => void)[] {
  const filter = isJsonObject(acknowledged) ? acknowledged["notifications"] : undefined;
  if (!isJsonObject(filter)) return [];
  const { resources } = source.features ?? {};
  const ends: (() => void)[] = [];
  if (filter["toolsListChanged"] === true) ends.push(source.watch(() => void server.sendToolListChanged()));
  const list = filter["resourcesListChanged"] === true ? resources?.watchList : undefined;
  if (list !== undefined) ends.push(list(() => void server.sendResourceListChanged()));
  const uris = filter["resourceSubscriptions"];
  for (const uri of new Set(Array.isArray(uris) ? uris : []))
    if (typeof uri === "string" && resources?.changesWith?.(uri) === "tools")
      ends.push(source.watch(() => void server.sendResourceUpdated({ uri })));
  return ends;
}

/** Results of the modern era that say how long they stay fresh. */
const CACHE_HINTS: ServerOptions["cacheHints"] = {
  "server/discover": CACHE_HINT,
  "tools/list": CACHE_HINT,
  "resources/list": CACHE_HINT,
  "resources/templates/list": CACHE_HINT,
  "resources/read": CACHE_HINT,
  "prompts/list": CACHE_HINT,
};

function createServer(
  { identity, tools, watch, pages, features, onError }: LibrarySource,
  cacheHints?: ServerOptions["cacheHints"],
): Server {
  const { serverInfo, capabilities, instructions } = identity;
  const server = new Server(serverInfo, {
    capabilities,
    instructions,
    ...(cacheHints !== undefined && { cacheHints }),
  });
  server.onerror = onError;
  server.setRequestHandler("tools/list", async ({ params }) => {
    const { entries, ...next } = pageAt({ pages, name: "tools/list" }, await tools(), params);
    return { tools: entries, ...next } as never;
  });
  if (features !== undefined)
    registerFeatures(server, features, { pages, isModern: cacheHints !== undefined, watchTools: watch });
  return server;
}

/** The library's errors repeat what the client sent, however long. */
function bounded(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const { code, message: text, data } = message.error;
  const error = { code, message: shortened(text, RPC_ERROR_CHARACTERS_MAX) };
  return { ...message, error: data === undefined ? error : { ...error, data: boundedData(data) } };
}

function boundedData(data: unknown): unknown {
  return JSON.parse(
    JSON.stringify(data, (_, value: unknown) => (typeof value === "string" ? shortened(value) : value)),
  );
}
