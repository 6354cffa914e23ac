/**
 * The modern era of MCP (revision 2026-07-28): each request carries its revision and is answered from itself alone.
 *
 * The three requests that every client makes are answered without the protocol library when they are plain:
 * `tools/call` goes to the kernel, `server/discover` and `tools/list` have texts that are printed once. Anything else
 * is the library's, and so is every judgement of an envelope that is not plain. Trusts nothing about a request but its
 * shape as JSON-RPC. INVARIANTS: nothing depends on an earlier request; the server never sends requests or log
 * messages.
 */
import type { JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import type { ResultFrame } from "./answers/print-result.ts";
import type { LibrarySource } from "./library.ts";
import { cursorError, metaError } from "./protocol/early-refusals.ts";
import { isEnvelopeAlone, isPlainEnvelope } from "./protocol/plain-requests.ts";
import { META_SERVER_INFO, MODERN_REVISION } from "./protocol/revisions.ts";
import { INVALID_REQUEST, type RpcError } from "./protocol/rpc-error.ts";
import { CACHE_HINT } from "./protocol/server-identity.ts";
import { CallTasks } from "./tasks/call-tasks.ts";
import { HeldCalls } from "./tasks/held-calls.ts";

/** What a modern request comes to: an answer, a refusal, a call for the kernel, or a question to the library. */
export type ModernAnswer =
  | { readonly kind: "printed"; readonly answer: string }
  | { readonly kind: "printing"; readonly answer: Promise<string> }
  | { readonly kind: "refused"; readonly error: RpcError }
  | { readonly kind: "call" }
  | { readonly kind: "unusual" };

/**
 * What the library makes of a modern request: a call for the kernel after all, a refusal of its envelope, or its
 * answer.
 */
export type LibraryAnswer =
  | { readonly kind: "call" }
  | { readonly kind: "refused"; readonly error: RpcError }
  | { readonly kind: "line"; readonly answer: string };

/** Answers the requests of the modern era. */
export class ModernEra {
  /** What stands in the result of every call. */
  readonly frame: ResultFrame;
  /** The member `_meta` of every result. */
  readonly resultMeta: JsonObject;
  /** The client's calls that take long. */
  readonly tasks: CallTasks;
  /** Calls that take longer than clients without tasks wait. */
  readonly held: HeldCalls;
  readonly #source: LibrarySource;
  /** Subscriptions that are open. */
  #listening = 0;
  #discovery: string | undefined;
  /** The list as it was printed last, and of what. */
  #list: { readonly tools: readonly JsonObject[]; readonly text: string } | undefined;

  constructor(source: LibrarySource, tasks = new CallTasks()) {
    this.tasks = tasks;
    this.held = new HeldCalls(source.heldAfterMs);
    this.#source = source;
    this.resultMeta = { [META_SERVER_INFO]: source.identity.serverInfo };
    this.frame = { head: COMPLETE, meta: this.resultMeta };
  }

  /** Whether something of the client goes on without a request. */
  get isAtWork(): boolean {
    return this.tasks.isAtWork || this.held.isAtWork;
  }

  /** The client is gone. */
  close(): void {
    this.tasks.close();
    this.held.close();
  }

  /** What a request whose `_meta` is `meta` comes to. */
  answer({ id, method, params }: JSONRPCRequest, meta: JsonObject): ModernAnswer {
    const error = metaError(params) ?? cursorError(method, params);
    if (error !== undefined) return { kind: "refused", error };
    if (isPlainEnvelope(meta)) {
      if (method === "tools/call") return { kind: "call" };
      if (method === "tools/list" && isEnvelopeAlone(params))
        return { kind: "printing", answer: this.#toolList().then((list) => answerOf(id, list)) };
      if (method === "server/discover" && isEnvelopeAlone(params)) return printed(id, this.#discover());
    }
    return { kind: "unusual" };
  }

  /** The whole answer with a result of the server's own, as one line without its end. */
  printed(id: RequestId, result: JsonObject): string {
    return answerOf(id, JSON.stringify({ ...result, _meta: this.resultMeta }));
  }

  /** What is wrong with the envelope of a request that the library does not know, if something is. */
  async envelopeProblem(request: JSONRPCRequest, signal: AbortSignal): Promise<RpcError | undefined> {
    const { acceptsModern, askModern } = await import("./library.ts");
    if (acceptsModern(request)) return undefined;
    const answer = await askModern(this.#source, request, { signal, note: () => undefined });
    return "error" in answer ? (answer.error as RpcError) : undefined;
  }

  /** Calls `listener` after each change of the tools, until the returned function is called. */
  watch(listener: () => void, isAwake: () => boolean): () => void {
    return this.#source.watch(listener, isAwake);
  }

  /** What the library makes of an unusual request; loads it when nobody has yet. */
  async ask(
    request: JSONRPCRequest,
    { signal, note }: { readonly signal: AbortSignal; readonly note: (line: string) => void },
  ): Promise<LibraryAnswer> {
    const { acceptsModern, askModern } = await import("./library.ts");
    // The kernel says what is wrong with a call, and records it; the library judges its envelope alone.
    if (request.method === "tools/call" && acceptsModern(request)) return { kind: "call" };
    const client = { signal, note: (message: object) => note(JSON.stringify(message)) };
    const isSubscription = request.method === "subscriptions/listen";
    if (isSubscription && this.#listening >= LISTENING_MAX) return { kind: "refused", error: LISTENING_ENOUGH };
    if (isSubscription) this.#listening += 1;
    const answer = await askModern(this.#source, request, client).finally(() => {
      if (isSubscription) this.#listening -= 1;
    });
    if ("error" in answer && !acceptsModern(request)) return { kind: "refused", error: answer.error as RpcError };
    return { kind: "line", answer: JSON.stringify(answer) };
  }

  #discover(): string {
    const { capabilities, instructions } = this.#source.identity;
    this.#discovery ??= this.#print({ supportedVersions: [MODERN_REVISION], capabilities, instructions });
    return this.#discovery;
  }

  async #toolList(): Promise<string> {
    const tools = await this.#source.tools();
    if (this.#list?.tools !== tools) this.#list = { tools, text: this.#print(firstPage(this.#source, tools)) };
    return this.#list.text;
  }

  #print(body: JsonObject): string {
    return JSON.stringify({ ...COMPLETE, _meta: this.resultMeta, ...body, ...CACHE_HINT });
  }
}

/** The members of a result that shows the first of the tools. */
export function firstPage({ pages }: LibrarySource, all: readonly JsonObject[]): JsonObject {
  const { entries, ...next } = pages.page("tools/list", all) ?? { entries: [] };
  return { tools: entries, ...next };
}

/** Subscriptions of one session that are open at a time. */
export const LISTENING_MAX = 64;
const LISTENING_ENOUGH: RpcError = {
  code: INVALID_REQUEST,
  message: `a session has at most ${LISTENING_MAX} subscriptions; end one of them first`,
};

/** The member that every result of the era begins with. */
const COMPLETE = { resultType: "complete" };

function printed(id: RequestId, body: string): ModernAnswer {
  return { kind: "printed", answer: answerOf(id, body) };
}

function answerOf(id: RequestId, body: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${body}}`;
}
