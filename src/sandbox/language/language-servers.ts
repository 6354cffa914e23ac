/**
 * Keeps language servers warm: one for each workspace, server and scope, a bounded number of them.
 *
 * INVARIANTS: a server answers one question at a time. One that failed is started again only after a pause that grows
 * with each failure. A question whose scope sees another set of files than the server was started with never reaches
 * it.
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { SandboxMount } from "../plan/plan.ts";
import { readInitialized, type ServerDiagnostic } from "./answers.ts";
import { Documents, uriOf } from "./documents.ts";
import { NOT_INSTALLED_CODE, type ServerKind } from "./server-kinds.ts";
import { type RequestBounds, ServerFailure, ServerProcess, type StartProcess } from "./server-process.ts";

/** Servers of one kernel. */
const SERVERS_MAX = 4;
/** Milliseconds after which one without a question is ended. */
const IDLE_MS = 5 * 60_000;
/** Milliseconds in which it must be ready. */
const START_MS_MAX = 30_000;
/** Milliseconds of one request. */
const REQUEST_MS_MAX = 30_000;
/** Milliseconds of one question with all its requests and its wait for others. */
const QUESTION_MS_MAX = 90_000;
/** Milliseconds between a server's first answer and its second to the same question, and how often it is asked. */
const SETTLE_MS = 500;
const SETTLE_TRIES_MAX = 20;
/** Questions that wait for one server. */
const WAITING_MAX = 8;
/** Milliseconds until a server that failed is started again, and the most that they grow to. */
const PAUSE_MS = 1000;
const PAUSE_MS_MAX = 60_000;
/** Servers whose failures are remembered. */
const FAILURES_MAX = 256;

/** A server that is ready, for one question. */
export interface WarmServer {
  readonly kind: ServerKind;
  readonly documents: Documents;
  readonly pullsDiagnostics: boolean;
  /** When it was started, by the machine's clock. */
  readonly startedAtMs: number;
  readonly request: (method: string, params: unknown) => Promise<unknown>;
  /** What it says of an open file unasked, once it rests. */
  readonly published: (path: string) => Promise<readonly ServerDiagnostic[]>;
}

/** Which server is wanted. */
export interface ServerWanted {
  readonly kind: ServerKind;
  /** The workspace on the machine. */
  readonly root: string;
  readonly mounts: readonly SandboxMount[];
  readonly memoryMb: number;
  /** Starts it, and tells with which mounts. */
  readonly start: (
    streams: Parameters<StartProcess>[0],
    onMounts: (mounts: readonly SandboxMount[]) => void,
  ) => ReturnType<StartProcess>;
  readonly signal: AbortSignal;
}

/** Bounds that tests make smaller. */
export interface ServerBounds {
  readonly requestMs?: number;
  readonly questionMs?: number;
  readonly startMs?: number;
  readonly pauseMs?: number;
  readonly idleMs?: number;
}

interface Kept {
  readonly process: ServerProcess;
  readonly documents: Documents;
  readonly startedAtMs: number;
  readonly ready: Promise<{ readonly pullsDiagnostics: boolean }>;
  /** Whether its answers are whole: it has loaded the project. */
  isSettled: boolean;
  waiting: number;
  last: Promise<unknown>;
  idle: NodeJS.Timeout | undefined;
}

interface Failures {
  readonly count: number;
  readonly notBeforeMs: number;
  readonly why: ServerFailure;
}

/** The language servers of one sandbox. */
export class LanguageServers {
  readonly #bounds: Required<ServerBounds>;
  readonly #kept = new Map<string, Kept>();
  readonly #failures = new Map<string, Failures>();

  constructor({
    requestMs = REQUEST_MS_MAX,
    questionMs = QUESTION_MS_MAX,
    startMs = START_MS_MAX,
    pauseMs = PAUSE_MS,
    idleMs = IDLE_MS,
  }: ServerBounds = {}) {
    this.#bounds = { requestMs, questionMs, startMs, pauseMs, idleMs };
  }

  /** Servers that run. */
  get count(): number {
    return this.#kept.size;
  }

  /** Asks a server. @throws ServerFailure where there is no answer, and what `work` throws */
  async ask<Answer>(wanted: ServerWanted, work: (server: WarmServer) => Promise<Answer>): Promise<Answer> {
    const place = JSON.stringify([wanted.root, wanted.kind.name, wanted.kind.command]);
    const key = `${place} ${digestOf(wanted.mounts)}`;
    const failed = this.#failures.get(place);
    const waitMs = (failed?.notBeforeMs ?? 0) - performance.now();
    const running = this.#running(key);
    if (failed !== undefined && waitMs > 0 && running === undefined) throw pausing(failed, waitMs);
    const kept = running ?? this.#begin(key, wanted);
    if (kept.waiting >= WAITING_MAX) throw new ServerFailure("timed_out", "too many calls wait for it");
    kept.waiting += 1;
    // behind all others: the first is that which was asked longest ago
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    clearTimeout(kept.idle);
    const endsAtMs = performance.now() + this.#bounds.questionMs;
    const turn = kept.last.then(() => this.#work(kept, { ...wanted, endsAtMs }, work));
    kept.last = turn.catch(() => undefined);
    try {
      const answer = await turn;
      this.#failures.delete(place);
      return answer;
    } catch (error) {
      if (error instanceof ServerFailure && error.trouble !== "cancelled") this.#note(place, error);
      throw error;
    } finally {
      kept.waiting -= 1;
      if (kept.waiting === 0) kept.idle = setTimeout(() => kept.process.close(), this.#bounds.idleMs).unref();
    }
  }

  /** One that has failed is ending: the next question is none of its. */
  #running(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (kept?.process.failure === undefined) return kept;
    this.#kept.delete(key);
    return undefined;
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    for (const { process } of all) process.close();
    await Promise.all(all.map(({ process }) => process.ended));
  }

  async #work<Answer>(
    kept: Kept,
    { kind, signal, endsAtMs }: ServerWanted & { readonly endsAtMs: number },
    work: (server: WarmServer) => Promise<Answer>,
  ): Promise<Answer> {
    const { process, documents, startedAtMs } = kept;
    const { pullsDiagnostics } = await kept.ready;
    const bounds = (): RequestBounds => {
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) throw new ServerFailure("timed_out", "the question takes too long, or others came before it");
      return { signal, msMax: Math.min(this.#bounds.requestMs, leftMs) };
    };
    if (kind.readyWhen !== undefined && !process.isReady)
      await process.until(() => process.isReady, "it still loads the project: ask again later", bounds());
    const request: WarmServer["request"] = async (method, params) =>
      await settled(kept, async () => await process.request(method, params, bounds()), signal);
    const published: WarmServer["published"] = async (path) => await documents.published(path, bounds());
    return await work({ kind, documents, pullsDiagnostics, startedAtMs, request, published });
  }

  #begin(key: string, wanted: ServerWanted): Kept {
    this.#makeRoom();
    const expected = digestOf(wanted.mounts);
    const startedAtMs = Date.now();
    let seen: string | undefined;
    const process = new ServerProcess(
      (streams) =>
        wanted.start(streams, (mounts) => {
          seen = digestOf(mounts);
        }),
      { notInstalledCode: NOT_INSTALLED_CODE, readyWhen: wanted.kind.readyWhen },
    );
    const ready = this.#initialized(process, wanted).then((about) => {
      // what it sees is not what the question was judged by
      if (seen !== expected) {
        process.close();
        throw new ServerFailure("cancelled", "the workspace changed while it was started");
      }
      return about;
    });
    ready.catch(() => undefined); // told to whoever asks
    const kept: Kept = {
      process,
      documents: new Documents(process, wanted.kind),
      startedAtMs,
      ready,
      // TypeScript's loads a project whole before it answers
      isSettled: wanted.kind.readyWhen !== undefined || wanted.kind.isTypeScript === true,
      waiting: 0,
      last: Promise.resolve(),
      idle: undefined,
    };
    this.#kept.set(key, kept);
    void process.ended.then(() => {
      clearTimeout(kept.idle);
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    });
    return kept;
  }

  async #initialized(process: ServerProcess, { kind, memoryMb, signal }: ServerWanted) {
    const answer = await process.request(
      "initialize",
      {
        processId: null,
        clientInfo: { name: "handrail" },
        rootUri: uriOf("."),
        workspaceFolders: [{ uri: uriOf("."), name: "workspace" }],
        initializationOptions: kind.options?.(memoryMb) ?? {},
        capabilities: {
          general: { positionEncodings: ["utf-16"] },
          workspace: { configuration: true, workspaceFolders: true, workspaceEdit: { documentChanges: true } },
          textDocument: {
            references: {},
            definition: {},
            rename: { prepareSupport: true },
            diagnostic: { dynamicRegistration: true },
            publishDiagnostics: { versionSupport: true },
          },
          experimental: { serverStatusNotification: true },
        },
      },
      { signal, msMax: this.#bounds.startMs },
    );
    const about = readInitialized(answer);
    if (about === undefined) {
      process.close();
      throw new ServerFailure("failed", "its first answer is not that of a language server");
    }
    await process.notify("initialized", {});
    return about;
  }

  /** Ends the one that was asked longest ago; those that work are left. */
  #makeRoom(): void {
    if (this.#kept.size < SERVERS_MAX) return;
    const idle = [...this.#kept].find(([, { waiting }]) => waiting === 0);
    if (idle === undefined) throw new ServerFailure("timed_out", `${SERVERS_MAX} language servers are at work`);
    idle[1].process.close();
    this.#kept.delete(idle[0]);
  }

  #note(place: string, why: ServerFailure): void {
    const count = (this.#failures.get(place)?.count ?? 0) + 1;
    const pauseMs = Math.min(this.#bounds.pauseMs * 2 ** Math.min(count - 1, 16), PAUSE_MS_MAX);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= FAILURES_MAX && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(place, { count, notBeforeMs: performance.now() + pauseMs, why });
  }
}

/** An answer, from one that does not say when the project is loaded: the first that it gives twice. */
async function settled(kept: Kept, ask: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  let answer = await ask();
  for (let tries = 1; !kept.isSettled; tries += 1) {
    if (tries > SETTLE_TRIES_MAX)
      throw new ServerFailure("timed_out", "it answers the same question each time otherwise: ask again later");
    await wait(SETTLE_MS, undefined, { signal });
    const again = await ask();
    kept.isSettled = JSON.stringify(again) === JSON.stringify(answer);
    answer = again;
  }
  return answer;
}

function pausing({ why }: Failures, waitMs: number): ServerFailure {
  if (why.trouble === "not_installed") return why;
  return new ServerFailure(why.trouble, `${why.message} (it is started again in ${Math.ceil(waitMs / 1000)} s)`);
}

function digestOf(mounts: readonly SandboxMount[]): string {
  return createHash("sha256").update(JSON.stringify(mounts)).digest("hex");
}
