/**
 * Speaks with one language server over its standard streams, and bounds what it may cost.
 *
 * The server is not trusted: it may be code of the workspace's own. INVARIANTS: every request is answered once. A
 * server that takes longer than a request may, says more than it may, or does not read what it is told, is ended with
 * its sandbox. Nothing that it asks for is done.
 */
import type { Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import {
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { MIB } from "../../base/bytes.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { EndedBy, RunOutput } from "../run/launch.ts";
import { ServerMessageReader } from "./message-reader.ts";

/** Bytes that a server may say while it answers one request, or between two. */
const SAID_BYTES_MAX = 32 * MIB;
/** Bytes that wait because the server does not read. */
const UNREAD_BYTES_MAX = 64 * MIB;
/** Characters of its errors that are kept. */
const ERRORS_CHARACTERS_MAX = 400;

/** Why a server gave no answer. */
export type ServerTrouble = "not_installed" | "failed" | "timed_out" | "flooded" | "cancelled";

/** A server that gave no answer. */
export class ServerFailure extends Error {
  readonly trouble: ServerTrouble;
  constructor(trouble: ServerTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}

/** What a server answers in place of a result; it lives on. */
export class ServerRefusal extends Error {}

/** How a server's process is started; resolves when nothing of it is left. */
export type StartProcess = (streams: {
  readonly input: (writer: Writable) => void;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
}) => Promise<{ readonly exitCode: number | undefined; readonly endedBy: EndedBy | undefined }>;

/** What a process is told apart by from the outside. */
export interface ProcessSigns {
  /** The exit code by which its start says that it is not installed. */
  readonly notInstalledCode: number;
  /** Whether a notification says that the project is loaded; without it, only its answers tell. */
  readonly readyWhen?: ((method: string, params: unknown) => boolean) | undefined;
}

/** Notifications that somebody here listens to. */
const HEARD = ["textDocument/publishDiagnostics", "window/logMessage", "experimental/serverStatus"] as const;
/** Milliseconds between two looks at whether something is so. */
const LOOK_MS = 50;

/** How one request is made. */
export interface RequestBounds {
  readonly signal: AbortSignal;
  readonly msMax: number;
}

/** The process of one server. */
export class ServerProcess {
  readonly #ending = new AbortController();
  readonly #reader = new ServerMessageReader();
  readonly #connected = Promise.withResolvers<MessageConnection>();
  readonly #failed = Promise.withResolvers<never>();
  readonly #signs: ProcessSigns;
  #isReady = false;
  #saidBytes = 0;
  #errors = "";
  #failure: ServerFailure | undefined;
  #input: Writable | undefined;
  #refused: unknown;
  /** Takes what the server says unasked of a file. */
  onPublished: (params: unknown) => void = () => undefined;
  /** Settled once nothing of the process is left. */
  readonly ended: Promise<void>;

  constructor(start: StartProcess, signs: ProcessSigns) {
    this.#signs = signs;
    this.#failed.promise.catch(() => undefined); // told to whoever asks
    this.#connected.promise.catch(() => undefined);
    this.ended = this.#run(start);
  }

  /** Why it answers no more. */
  get failure(): ServerFailure | undefined {
    return this.#failure;
  }

  /** What kept it from being started, where that was no fault of the server's. */
  get refused(): unknown {
    return this.#refused;
  }

  /** Whether it has said that the project is loaded. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Waits for something that it says unasked. @throws ServerFailure `timed_out`; it lives on */
  async until(isSo: () => boolean, why: string, { signal, msMax }: RequestBounds): Promise<void> {
    const endsAtMs = performance.now() + msMax;
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure;
      if (performance.now() >= endsAtMs) throw new ServerFailure("timed_out", why);
      await wait(LOOK_MS, undefined, { signal });
    }
  }

  /** Asks, and ends the server where it does not answer in time. @throws ServerFailure, ServerRefusal */
  async request(method: string, params: unknown, { signal, msMax }: RequestBounds): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#saidBytes = 0;
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    const onAbort = () => aborted.reject(new ServerFailure("cancelled", "the call was cancelled"));
    const timer = setTimeout(
      () =>
        this.#end(
          new ServerFailure("timed_out", `it did not answer \`${method}\` within ${(msMax / 1000).toFixed(1)} s`),
        ),
      msMax,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const answered = this.#connected.promise.then((connection) => connection.sendRequest<unknown>(method, params));
      answered.catch(() => undefined); // where something else came first
      return await Promise.race([answered, this.#failed.promise, aborted.promise]);
    } catch (error) {
      // one that still works on what nobody waits for would delay the next call
      if (error instanceof ServerFailure && error.trouble === "cancelled") this.#end(error);
      if (error instanceof ResponseError) throw new ServerRefusal(error.message);
      if (error instanceof ServerFailure) throw error;
      throw this.#end(new ServerFailure("failed", "its connection broke"));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#saidBytes = 0;
    }
  }

  /** Tells it something that has no answer. */
  async notify(method: string, params: unknown): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const connection = await Promise.race([this.#connected.promise, this.#failed.promise]);
    void connection.sendNotification(method, params).catch(() => this.#end(BROKEN));
    if ((this.#input?.writableLength ?? 0) > UNREAD_BYTES_MAX)
      throw this.#end(new ServerFailure("failed", "it does not read what it is told"));
  }

  /** Ends it. */
  close(): void {
    this.#end(new ServerFailure("cancelled", "it was ended"));
  }

  async #run(start: StartProcess): Promise<void> {
    try {
      const { exitCode, endedBy } = await start({
        input: (writer) => this.#connect(writer),
        output: { stdout: (piece) => this.#take(piece), stderr: (piece) => this.#takeErrors(piece) },
        signal: this.#ending.signal,
      });
      const isMissing = exitCode === this.#signs.notInstalledCode;
      const how = endedBy ?? `exit code ${exitCode ?? "unknown"}`;
      this.#end(
        isMissing
          ? new ServerFailure("not_installed", "it is not installed")
          : new ServerFailure("failed", `it ended by itself (${how})${this.#lastWords()}`),
      );
    } catch (error) {
      if (error instanceof ToolFailure || error instanceof Refusal) this.#refused = error;
      const isMissing = error instanceof ToolFailure && error.code === "NOT_SUPPORTED";
      const message = error instanceof Error ? error.message : "unknown";
      this.#end(new ServerFailure(isMissing ? "not_installed" : "failed", `it could not be started: ${message}`));
    }
  }

  #lastWords(): string {
    const words = this.#errors.replace(/[^\x20-\x7e]+/g, " ").trim();
    return words === "" ? "" : `: ${words}`;
  }

  #connect(writer: Writable): void {
    this.#input = writer;
    const connection = createMessageConnection(this.#reader, new StreamMessageWriter(writer));
    connection.onError(() => this.#end(BROKEN));
    connection.onClose(() => this.#end(BROKEN));
    connection.onRequest("workspace/configuration", (asked: { readonly items?: readonly unknown[] }) =>
      Array.isArray(asked?.items) ? asked.items.slice(0, 100).map(() => null) : [],
    );
    connection.onRequest("workspace/applyEdit", () => ({ applied: false }));
    for (const method of [
      "client/registerCapability",
      "client/unregisterCapability",
      "window/workDoneProgress/create",
      "workspace/diagnostic/refresh",
    ])
      connection.onRequest(method, () => null);
    for (const method of HEARD) connection.onNotification(method, (params: unknown) => this.#hear(method, params));
    connection.listen();
    this.#connected.resolve(connection);
  }

  #hear(method: (typeof HEARD)[number], params: unknown): void {
    this.#isReady ||= this.#signs.readyWhen?.(method, params) === true;
    if (method === "textDocument/publishDiagnostics") this.onPublished(params);
  }

  #take(piece: Uint8Array): void {
    if (this.#failure !== undefined) return;
    this.#saidBytes += piece.length;
    if (this.#saidBytes > SAID_BYTES_MAX)
      this.#end(new ServerFailure("flooded", `it said more than ${SAID_BYTES_MAX} bytes`));
    else this.#reader.take(Buffer.from(piece));
    if ((this.#input?.writableLength ?? 0) > UNREAD_BYTES_MAX)
      this.#end(new ServerFailure("failed", "it asks without reading answers"));
  }

  #takeErrors(piece: Uint8Array): void {
    this.#saidBytes += piece.length;
    if (this.#saidBytes > SAID_BYTES_MAX) this.#end(new ServerFailure("flooded", "its errors have no end"));
    if (this.#errors.length < ERRORS_CHARACTERS_MAX)
      this.#errors = (this.#errors + Buffer.from(piece).toString("latin1")).slice(0, ERRORS_CHARACTERS_MAX);
  }

  /** The first failure stays. */
  #end(failure: ServerFailure): ServerFailure {
    if (this.#failure !== undefined) return this.#failure;
    this.#failure = failure;
    this.#failed.reject(failure);
    this.#connected.promise.then(
      (connection) => connection.dispose(),
      () => undefined,
    );
    this.#ending.abort(failure);
    this.#reader.dispose();
    return failure;
  }
}

const BROKEN = new ServerFailure("failed", "it said what no language server says");
