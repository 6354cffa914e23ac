/**
 * The kernel's side of the ledger: sends events to the worker thread and hands back their sequences.
 *
 * Events of one tick travel in one message. The worker answers in order, so that the oldest waiting event is the one
 * answered. INVARIANT: `record` resolves only after the worker said that the promised durability holds; whatever
 * happens to the worker, every waiting event is answered once, and a new worker serves later ones.
 */
import { Worker } from "node:worker_threads";
import { KernelError } from "../base/errors.ts";
import { LEDGER_QUEUE_CHARACTERS_MAX, LEDGER_QUEUE_MAX } from "../base/limits.ts";
import { type PendingEntry, pendingEntry } from "../ledger/chain.ts";
import { IntentNotOpenError, type OpenIntent, type OpenIntentSource } from "../ledger/orphans.ts";
import type { Durability, EventSink, LedgerEvent } from "../model/event.ts";
import type { Failure, LedgerReply, LedgerRequest, LedgerWorkerData } from "./ledger-messages.ts";

/** Whether the ledger takes entries, as far as the last attempt showed. */
export interface LedgerHealth {
  readonly writable: boolean;
  /** Why it is not. */
  readonly problem?: string;
  /** Events that wait for their answer. */
  readonly waiting: number;
}

/** The ledger of a running kernel. */
export interface LedgerThread extends EventSink, OpenIntentSource {
  /** Resolves once the store is open; rejects with `STORE_CORRUPT`, `STORE_UNAVAILABLE` or `LEDGER_UNAVAILABLE`. */
  readonly ready: () => Promise<void>;
  readonly health: () => LedgerHealth;
  /** Records what waits, makes everything durable and ends the worker. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the ledger's worker. Returns at once: events may be recorded before the store is open.
 * @param queueMax events that may wait; tests pass fewer
 */
export function startLedgerThread(data: LedgerWorkerData, queueMax: number = LEDGER_QUEUE_MAX): LedgerThread {
  return new WorkerLedgerThread(data, queueMax);
}

interface Waiting {
  /** Length of the payload. */
  readonly characters: number;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: KernelError) => void;
}

interface Question {
  readonly resolve: (intents: readonly OpenIntent[]) => void;
  readonly reject: (error: KernelError) => void;
}

class WorkerLedgerThread implements LedgerThread {
  private readonly data: LedgerWorkerData;
  private readonly queueMax: number;
  private worker: Worker | undefined;
  /** Events not sent yet. */
  private outbox: PendingEntry[] = [];
  /** Events not answered yet, oldest first from `answered` on: those of the outbox too. */
  private waiting: Waiting[] = [];
  private answered = 0;
  private waitingCharacters = 0;
  private flushing = false;
  private readonly questions = new Map<number, Question>();
  private nextQuestion = 1;
  private problem: string | undefined;
  private opening: PromiseWithResolvers<void>;
  private closing: PromiseWithResolvers<void> | undefined;

  constructor(data: LedgerWorkerData, queueMax: number) {
    this.data = data;
    this.queueMax = queueMax;
    this.opening = freshOpening();
    this.worker = this.spawn();
  }

  record(event: LedgerEvent, durability: Durability): Promise<number> {
    if (this.closing !== undefined) return Promise.reject(unavailable("the ledger is closed"));
    if (this.waitingCount() >= this.queueMax) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const pending = pendingEntry(event, durability);
      const characters = pending.payload.length;
      if (this.waitingCharacters > 0 && this.waitingCharacters + characters > LEDGER_QUEUE_CHARACTERS_MAX) throw overloaded();
      this.waitingCharacters += characters;
      this.outbox.push(pending);
      this.waiting.push({ resolve, reject, characters });
      if (this.flushing) return;
      this.flushing = true;
      queueMicrotask(() => this.flush());
    });
  }

  openIntents(): Promise<readonly OpenIntent[]> {
    if (this.closing !== undefined) return Promise.reject(unavailable("the ledger is closed"));
    return new Promise((resolve, reject) => {
      const id = this.nextQuestion++;
      this.questions.set(id, { resolve, reject });
      this.send({ kind: "open_intents", id });
    });
  }

  ready(): Promise<void> {
    return this.opening.promise;
  }

  health(): LedgerHealth {
    const waiting = this.waitingCount();
    return this.problem === undefined ? { writable: true, waiting } : { writable: false, problem: this.problem, waiting };
  }

  close(): Promise<void> {
    if (this.closing !== undefined) return this.closing.promise;
    this.flush();
    this.closing = Promise.withResolvers();
    if (this.worker === undefined) this.closing.resolve();
    else this.send({ kind: "close" });
    return this.closing.promise;
  }

  private flush(): void {
    this.flushing = false;
    if (this.outbox.length === 0) return;
    const events = this.outbox;
    this.outbox = [];
    this.send({ kind: "append", events });
  }

  private send(request: LedgerRequest): void {
    this.worker ??= this.spawn();
    this.worker.ref();
    this.worker.postMessage(request);
  }

  private spawn(): Worker {
    const worker = new Worker(new URL(import.meta.url.endsWith(".ts") ? "./ledger-worker.ts" : "./ledger-worker.js", import.meta.url), {
      workerData: this.data,
    });
    worker.unref();
    worker.on("message", (reply: LedgerReply) => this.answer(reply));
    worker.on("error", (error) => this.lost(worker, error));
    worker.on("exit", () => this.lost(worker, undefined));
    return worker;
  }

  private answer(reply: LedgerReply): void {
    if (reply.kind === "appended") this.appended(reply.sequences);
    else if (reply.kind === "refused") this.refused(reply.count, reply.failure);
    else if (reply.kind === "opened") this.opened(reply.failure);
    else if (reply.kind === "sync_failed") this.problem = reply.failure.message;
    else if (reply.kind === "recovered") this.problem = undefined;
    else if (reply.kind === "closed") this.closed(reply.failure);
    else this.answerQuestion(reply);
    if (this.waitingCount() === 0 && this.questions.size === 0 && this.closing === undefined) this.worker?.unref();
  }

  private appended(sequences: readonly number[]): void {
    this.problem = undefined;
    for (const sequence of sequences) {
      const waiting = this.next();
      if (sequence === 0) waiting?.reject(new IntentNotOpenError());
      else waiting?.resolve(sequence);
    }
  }

  private refused(count: number, { message }: Failure): void {
    this.problem = message;
    for (let index = 0; index < count; index++) this.next()?.reject(unavailable(message));
  }

  private opened(failure: Failure | undefined): void {
    this.problem = failure?.message;
    if (failure === undefined) this.opening.resolve();
    else this.opening.reject(new KernelError(failure.code, failure.message));
  }

  private closed(failure: Failure | undefined): void {
    if (failure === undefined) this.closing?.resolve();
    else this.closing?.reject(new KernelError(failure.code, failure.message));
  }

  private answerQuestion(reply: Extract<LedgerReply, { kind: "intents" | "intents_failed" }>): void {
    const question = this.questions.get(reply.id);
    this.questions.delete(reply.id);
    if (reply.kind === "intents") question?.resolve(reply.intents);
    else question?.reject(new KernelError(reply.failure.code, reply.failure.message));
  }

  /** The worker is gone: what it had not answered is refused, what was not sent goes to its successor. */
  private lost(worker: Worker, cause: Error | undefined): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    const error = unavailable("the ledger's thread ended", cause);
    this.problem = error.message;
    this.opening.reject(error);
    const sent = this.waitingCount() - this.outbox.length;
    for (let index = 0; index < sent; index++) this.next()?.reject(error);
    for (const question of this.questions.values()) question.reject(error);
    this.questions.clear();
    this.closing?.reject(error);
  }

  private waitingCount(): number {
    return this.waiting.length - this.answered;
  }

  /** The oldest waiting event. The list is shifted in bulk, because shifting a long array each time is slow. */
  private next(): Waiting | undefined {
    const waiting = this.waiting[this.answered++];
    this.waitingCharacters -= waiting?.characters ?? 0;
    if (this.answered === this.waiting.length) {
      this.waiting = [];
      this.answered = 0;
    } else if (this.answered > LEDGER_QUEUE_MAX) {
      this.waiting = this.waiting.slice(this.answered);
      this.answered = 0;
    }
    return waiting;
  }
}

/** Nobody has to ask whether the store opened: a failure is also what every event gets. */
function freshOpening(): PromiseWithResolvers<void> {
  const opening = Promise.withResolvers<void>();
  opening.promise.catch(() => undefined);
  return opening;
}

function overloaded(): KernelError {
  return unavailable("too many events wait for the ledger; try again later");
}

function unavailable(message: string, cause?: Error): KernelError {
  return new KernelError("LEDGER_UNAVAILABLE", message, cause);
}
