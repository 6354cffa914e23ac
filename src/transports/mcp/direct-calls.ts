/**
 * Routes MCP messages by era between transport and protocol library, and makes every tool call itself.
 *
 * A request that claims the modern era is answered from itself alone, another one in its legacy session. Calls of both
 * go to the kernel: the library validates every message several times over, and the kernel validates every call anyway
 * and records what it refuses, malformed ones above all. What a legacy call asks for besides (a task) is optional and
 * not offered.
 *
 * INVARIANTS: a request is answered once, a cancelled one not at all, and a client that is gone has its calls aborted;
 * a legacy request before `initialize` is refused, `ping` alone is not.
 */
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import { isStructured } from "./answers/call-result.ts";
import { type CallParameters, callTool } from "./answers/call-tool.ts";
import { printAnswer } from "./answers/print-result.ts";
import { progressNotes } from "./answers/progress-notes.ts";
import { UNASKED } from "./approval/form-asker.ts";
import { LegacyApprovals } from "./approval/legacy-approvals.ts";
import { playRound, printQuestion, printRound } from "./approval/modern-rounds.ts";
import { MetClient } from "./met-client.ts";
import type { ModernEra } from "./modern.ts";
import { cursorError, handshakeError, isProgressToken, metaError } from "./protocol/early-refusals.ts";
import { cancelledRequest, isExcessive } from "./protocol/json-rpc.ts";
import type { McpOptions } from "./protocol/options.ts";
import {
  ELICITATION_REVISIONS,
  isModernOnly,
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  MODERN_REVISION,
  modernMeta,
} from "./protocol/revisions.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, printError, type RpcError } from "./protocol/rpc-error.ts";
import type { TaskCall } from "./tasks/call-tasks.ts";
import { HeldCalls } from "./tasks/held-calls.ts";
import { askInTask, taskAsker } from "./tasks/task-asker.ts";
import { answerTask, isTaskMethod, knowsTasks } from "./tasks/task-requests.ts";

/** A transport that also takes messages that are printed already, without the line's end. */
export interface PrintingTransport extends Transport {
  /** Sends the answer to the request `id`. */
  readonly sendPrinted: (id: RequestId, answer: string) => void;
  /** Sends a notification or a question, which belongs to the work on the request `about` if it names one. */
  readonly sendNote: (line: string, about?: RequestId) => void;
  /** Refuses a request of which nothing was done; without it, an error is an answer like any other. */
  readonly sendRefused?: (id: RequestId, error: RpcError) => void;
  /** Whether the client reads more slowly than is written to it; of the work on `about`, if that has its own way. */
  readonly isBehind: (about?: RequestId) => boolean;
}

/** A transport for the library that answers calls and modern requests itself. */
export class DirectCalls implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: PrintingTransport;
  readonly #options: McpOptions;
  readonly #approvals: LegacyApprovals;
  readonly #modern: ModernEra;
  readonly #client: MetClient;
  /** Calls of the legacy session that take longer than its client waits. */
  readonly #held: HeldCalls;
  /** Requests that are worked on: calls, and what the library is asked. */
  readonly #running = new Map<RequestId, Work>();
  /** Whether the client asked for a legacy session; what it may ask before is little. */
  #initialized = false;
  #takesLinks = false;
  /** When the client said something last in a legacy session, and what ends the look at its tools. */
  #heardMs = 0;
  #unwatch: (() => void) | undefined;
  /** The least level of which the client wants log messages, if it has said one. */
  #logLevel: unknown;

  constructor(inner: PrintingTransport, options: McpOptions, modern: ModernEra) {
    this.#inner = inner;
    this.#options = options;
    this.#modern = modern;
    this.#client = new MetClient(options);
    this.#held = new HeldCalls(options.heldAfterMs);
    this.#approvals = new LegacyApprovals(options.door, (line, about) => inner.sendNote(line, about));
  }

  /** Starts the transport below. */
  start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#take(message);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      for (const work of this.#running.values()) cancel(work);
      this.#held.close();
      this.#unwatch?.();
      this.#approvals.close();
      this.onclose?.();
    };
    return this.#inner.start();
  }

  /** Sends a message of the library. */
  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  /** Closes the transport below. */
  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Tells the transport below which legacy revision was agreed on. */
  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
    this.#approvals.agree(version);
    this.#takesLinks = ELICITATION_REVISIONS.has(version); // both came with the same revision
  }

  #take(message: JSONRPCMessage): void {
    if (!("method" in message))
      this.#approvals.take(message); // the library asks clients for nothing
    else if (isExcessive(message)) {
      if ("id" in message) this.#refuse(message.id, EXCESSIVE);
    } else if (!("id" in message)) this.#notice(message);
    else {
      const meta = modernMeta(message.params);
      if (meta !== undefined && !asksForLegacy(message.method, meta)) this.#takeModern(message, meta);
      else this.#takeLegacy(message);
    }
  }

  #notice(message: JSONRPCNotification): void {
    const cancelled = cancelledRequest(message);
    const work = cancelled === undefined ? undefined : this.#running.get(cancelled);
    if (work !== undefined) cancel(work);
    // The library has not heard of what is answered here, and would call a modern notification unknown.
    if (modernMeta(message.params) === undefined && work === undefined) this.onmessage?.(message);
  }

  #takeModern(request: JSONRPCRequest, meta: JsonObject): void {
    this.#client.introduce(meta[META_CLIENT_INFO]);
    const answer = this.#modern.answer(request, meta);
    switch (answer.kind) {
      case "printed":
        this.#inner.sendPrinted(request.id, answer.answer);
        return;
      case "printing":
        this.#work(request, () => answer.answer);
        return;
      case "refused":
        this.#refuse(request.id, answer.error);
        return;
      case "call":
        this.#work(request, (end) => this.#callOrTask(request, end));
        return;
      case "unusual":
        this.#work(request, (end) => this.#ask(request, end));
    }
  }

  async #ask(request: JSONRPCRequest, end: AbortController): Promise<string | undefined> {
    const { signal } = end;
    if (isTaskMethod(request.method)) return this.#askTask(request, signal);
    const note = (line: string) => (signal.aborted ? undefined : this.#inner.sendNote(line, request.id));
    const said = await this.#modern.ask(request, { signal, note });
    if (said.kind === "call") return this.#callOrTask(request, end);
    if (said.kind === "refused") {
      this.#refuse(request.id, said.error);
      return undefined;
    }
    return said.answer;
  }

  /** Makes a call, which becomes a task when it takes long and its client knows tasks. */
  async #callOrTask(request: JSONRPCRequest, end: AbortController): Promise<string> {
    const { signal } = end;
    if (!knowsTasks(request.params?._meta)) return this.#holding(request, end, () => this.#callModern(request, signal));
    const { params = {} } = request;
    const isTask = this.#options.asking?.isTask?.(String(params["name"]), params as JsonObject) === true;
    const made = await this.#modern.tasks.run(
      (task) => this.#callModern(request, task.end.signal, task),
      signal,
      isTask ? 0 : undefined,
    );
    return made.kind === "answered" ? made.line : this.#modern.printed(request.id, made.result);
  }

  /** The library says what is wrong with an envelope; it knows no tasks. */
  async #askTask(request: JSONRPCRequest, signal: AbortSignal): Promise<string | undefined> {
    const problem = await this.#modern.envelopeProblem(request, signal);
    const answer = problem === undefined ? this.#answerTask(request) : { error: problem };
    if ("result" in answer) return this.#modern.printed(request.id, answer.result);
    this.#refuse(request.id, answer.error);
    return undefined;
  }

  #answerTask(request: JSONRPCRequest): ReturnType<typeof answerTask> {
    return answerTask(this.#modern.tasks, request, () => void this.#options.door.recordRefusal(UNASKED));
  }

  async #callModern(request: JSONRPCRequest, signal: AbortSignal, task?: TaskCall): Promise<string> {
    const named = this.#client.ready();
    if (named !== undefined) await named;
    if (this.#asks(request)) return this.#callAsking(request, signal, task);
    const { id, params } = request;
    const { frame, resultMeta } = this.#modern;
    const played = await this.#heard(request, signal, (parameters, listener) =>
      playRound(this.#options, { parameters, params, inTask: task && taskAsker(task) }, (inBand) =>
        callTool(this.#options, parameters, { end: signal, listener, inBand, takesLinks: true }),
      ),
    );
    return played.kind === "question" ? printQuestion(id, played, resultMeta) : printRound(id, played.result, frame);
  }

  #takeLegacy(request: JSONRPCRequest): void {
    this.#heardMs = performance.now();
    const error = this.#legacyError(request);
    if (error !== undefined) this.#refuse(request.id, error);
    else if (request.method === "tools/call")
      this.#work(request, (end) => this.#holding(request, end, () => this.#callLegacy(request, end)));
    else {
      if (request.method === "tools/list") this.#unwatch ??= this.#watch();
      if (request.method === "logging/setLevel") this.#logLevel = request.params?.["level"];
      this.onmessage?.(request);
    }
  }

  /** A legacy client hears unasked that the tools it has listed are others now, while it says something itself. */
  #watch(): () => void {
    const changed = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    return this.#modern.watch(
      () => this.#inner.sendNote(changed),
      () => performance.now() - this.#heardMs < WATCHED_MS,
    );
  }

  #legacyError({ method, params }: JSONRPCRequest): RpcError | undefined {
    if (isModernOnly(method) || !(this.#initialized || OPENING.has(method))) return noEra(method);
    if (method === "tools/call") return undefined; // the kernel says what is wrong with it, and records it
    const error =
      metaError(params) ??
      cursorError(method, params) ??
      (method === "initialize" ? handshakeError(params) : undefined);
    if (method === "initialize" && error === undefined) {
      this.#initialized = true;
      this.#approvals.begin(params);
      this.#client.introduce(params?.["clientInfo"]);
    }
    return error;
  }

  /** Makes the call of a client without tasks, which is held when it takes long; who hears of progress waits. */
  #holding(request: JSONRPCRequest, end: AbortController, make: () => Promise<string>): Promise<string> {
    const { id, params } = request;
    const hears = isProgressToken(params?._meta?.progressToken);
    if (hears || this.#asks(request) || (params !== undefined && "requestState" in params)) return make();
    const isModern = modernMeta(params) !== undefined;
    const frame = isModern ? this.#modern.frame : {};
    const describe = () => {
      const parameters = callParameters(params);
      return { id, parameters, isStructured: isStructured(this.#options.door.tool(parameters.name)), frame };
    };
    return (isModern ? this.#modern.held : this.#held).run(describe, end, make);
  }

  async #callLegacy(request: JSONRPCRequest, end: AbortController): Promise<string> {
    const named = this.#client.ready();
    if (named !== undefined) await named;
    if (this.#asks(request)) return this.#callAsking(request, end.signal);
    const asker = this.#approvals.asker(request.id);
    const call = (parameters: CallParameters, listener?: ProgressListener) =>
      callTool(this.#options, parameters, { end, listener, inBand: asker, takesLinks: this.#takesLinks });
    return printAnswer(request.id, await this.#heard(request, end.signal, call));
  }

  #asks({ params }: JSONRPCRequest): boolean {
    return this.#options.asking?.owns(String(params?.["name"])) === true;
  }

  async #callAsking(request: JSONRPCRequest, signal: AbortSignal, task?: TaskCall): Promise<string> {
    const { makeAskedCall } = await import("./asking/asked-call.ts");
    const { id, params } = request;
    const meta = modernMeta(params);
    const capabilities = meta === undefined ? this.#approvals.capabilities : meta[META_CLIENT_CAPABILITIES];
    return this.#heard(request, signal, (parameters, listener) => {
      const call = {
        id,
        params,
        parameters,
        capabilities: isJsonObject(capabilities) ? capabilities : {},
        ask: meta === undefined ? this.#approvals.askFor(id, signal) : task && askInTask(task, meta),
        logLevel: meta === undefined ? this.#logLevel : meta[META_LOG_LEVEL],
        send: (line: string) => this.#inner.sendNote(line, id),
        frame: meta === undefined ? {} : this.#modern.frame,
      };
      return makeAskedCall(this.#options, call, { end: signal, listener });
    });
  }

  /**
   * Works on a request until there is an answer, or `undefined` because it was sent; one that is cancelled meanwhile
   * gets none.
   */
  #work({ id }: JSONRPCRequest, answer: (end: AbortController) => Promise<string | undefined>): void {
    const work: Work = { end: new AbortController(), isCancelled: false };
    this.#running.set(id, work);
    const answered = (line: string | undefined) => {
      // A client may use the id of a request that it cancelled again, before the work on that one has ended.
      if (this.#running.get(id) === work) this.#running.delete(id);
      if (!work.isCancelled && line !== undefined) this.#inner.sendPrinted(id, line);
    };
    answer(work.end).then(answered, (error: unknown) => {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      answered(printError(id, { code: INTERNAL_ERROR, message: "internal error" }));
    });
  }

  /** Makes the call of a request by `make`, and tells the client of its progress meanwhile if it wants to hear. */
  #heard<Result>(
    { id, params }: JSONRPCRequest,
    signal: AbortSignal,
    make: (parameters: CallParameters, listener?: ProgressListener) => Promise<Result>,
  ): Promise<Result> {
    const parameters = callParameters(params);
    const notes = this.#notes(id, parameters._meta, signal);
    return notes === undefined ? make(parameters) : make(parameters, notes.listener).finally(notes.end);
  }

  #notes(id: RequestId, meta: unknown, signal: AbortSignal): ReturnType<typeof progressNotes> | undefined {
    const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
    if (!isProgressToken(token)) return undefined;
    const send = (line: string) => (this.#inner.isBehind(id) ? undefined : this.#inner.sendNote(line, id));
    return progressNotes(token, signal, send);
  }

  #refuse(id: RequestId, error: RpcError): void {
    if (this.#inner.sendRefused !== undefined) this.#inner.sendRefused(id, error);
    else this.#inner.sendPrinted(id, printError(id, error));
  }
}

/**
 * A request that is worked on. The kernel may end it by `end` too: only one that the client has cancelled gets no
 * answer.
 */
interface Work {
  readonly end: AbortController;
  isCancelled: boolean;
}

function cancel(work: Work): void {
  work.isCancelled = true;
  work.end.abort();
}

/** Milliseconds after its last request for which the tools of a legacy client are looked at. */
const WATCHED_MS = 60_000;

const EXCESSIVE: RpcError = { code: INVALID_PARAMS, message: "the request has too many values; send fewer" };

/** What a legacy client may ask before its handshake. */
const OPENING: ReadonlySet<string> = new Set(["initialize", "ping"]);

/** Whether an `initialize` is a legacy one after all: it is, unless its `_meta` names the modern revision itself. */
export function asksForLegacy(method: string, meta: JsonObject): boolean {
  return method === "initialize" && meta[META_PROTOCOL_VERSION] !== MODERN_REVISION;
}

function noEra(method: string): RpcError {
  const modern = `carry \`${META_PROTOCOL_VERSION}\` (\`${MODERN_REVISION}\`) and \`${META_CLIENT_CAPABILITIES}\` in \`_meta\``;
  const message = isModernOnly(method)
    ? `\`${method}\` must ${modern}`
    : `begin with \`initialize\`, or let every request ${modern}`;
  return { code: INVALID_PARAMS, message };
}

/** The parameters as the kernel takes them, whatever they are. */
function callParameters(parameters: JSONRPCRequest["params"]): CallParameters {
  const { name, arguments: args, _meta }: Readonly<Record<string, unknown>> = parameters ?? {};
  return { name: typeof name === "string" ? name : "", arguments: args, _meta };
}
