/**
 * Records events in the ledger through a spool and a worker thread.
 *
 * This is the kernel's side: it spools buffered events, sends the others to the worker thread and hands back their
 * sequences. Events of one tick travel in one write and one message. The worker answers in order, so that the oldest
 * waiting event is the one answered.
 *
 * INVARIANT: `record` resolves only when the promised durability holds: once the worker said so, or, for a buffered
 * event, once it stands in the spool. Whatever happens to the worker, every waiting event is answered once, what was
 * spooled stays until a worker has appended it, and a new worker serves later ones.
 */
import { Worker } from "node:worker_threads";
import { assert, KernelError, ledgerUnavailable } from "../../base/errors.ts";
import { pendingEntry } from "../../ledger/chain.ts";
import type { LedgerPlace } from "../../ledger/ledger-store.ts";
import { IntentNotOpenError, type OpenIntent } from "../../ledger/orphans.ts";
import type { SpoolRecovery } from "../../ledger/spool-recovery.ts";
import type { Durability, LedgerEvent } from "../../model/outcome/event.ts";
import { ownProgram } from "../../names/own-program.ts";
import { openSpoolStore } from "../../stores/embedded/ledger/spool-store.ts";
import type {
  Failure,
  LedgerAnswer,
  LedgerHealth,
  LedgerQuestion,
  LedgerReply,
  LedgerRequest,
  LedgerThread,
  LedgerThreadOptions,
  LedgerWorkerData,
  SentEvent,
} from "./ledger-messages.ts";
import { LedgerSpool } from "./ledger-spool.ts";
import { LEDGER_QUEUE_CHARACTERS_MAX, LEDGER_QUEUE_MAX, LEDGER_RETRY_MS, LEDGER_SYNC_MS } from "./limits.ts";

/** Starts the ledger's worker. Returns at once: events may be recorded before the store is open. */
export function startLedgerThread(data: LedgerWorkerData, options: LedgerThreadOptions = {}): LedgerThread {
  return new WorkerLedgerThread(data, options);
}

const COMPILED = !import.meta.url.endsWith(".ts");
/** Half of what is promised: the transaction takes time too. */
const SEND_AFTER_MS = LEDGER_SYNC_MS / 2;

interface Waiting {
  /** Length of the payload. */
  readonly characters: number;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: KernelError) => void;
}

/** An event of this turn. */
interface Turned {
  readonly sent: SentEvent;
  readonly spooled: boolean;
  readonly resolve: (sequence: number | undefined) => void;
  readonly reject: (error: KernelError) => void;
}

type Question = PromiseWithResolvers<LedgerAnswer>;

class WorkerLedgerThread implements LedgerThread {
  private readonly data: LedgerWorkerData;
  private readonly queueMax: number;
  private readonly spool: LedgerSpool;
  private readonly spools: boolean;
  private readonly restarts: boolean;
  private worker: Worker | undefined;
  private begunAnew = false;
  /** Where the last worker that said so had the ledger open. */
  private known: LedgerPlace | undefined;
  /** Asked to rest, and nothing sent since. */
  private resting: PromiseWithResolvers<void> | undefined;
  /** Events recorded since the last flush. */
  private turn: Turned[] = [];
  /** Events not answered yet, oldest first from `answered` on. */
  private waiting: Waiting[] = [];
  private answered = 0;
  private waitingCharacters = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Without a worker that has tried to open the store, this thread keeps the promise for what is spooled. */
  private attended = false;
  private syncTimer: NodeJS.Timeout | undefined;
  private unsentSinceMs = 0;
  private readonly questions = new Map<number, Question>();
  private nextQuestion = 1;
  private problem: string | undefined;
  private opening: PromiseWithResolvers<void>;
  private closing: PromiseWithResolvers<void> | undefined;

  constructor(data: LedgerWorkerData, options: LedgerThreadOptions) {
    this.data = data;
    this.queueMax = options.queueMax ?? LEDGER_QUEUE_MAX;
    this.spools = options.spool ?? true;
    this.restarts = options.restarts ?? COMPILED;
    this.spool = new LedgerSpool(openSpoolStore(data.stateDirectory), data.instanceId, options.spoolBytesMax);
    this.opening = freshOpening();
    this.worker = this.spawn();
  }

  record(event: LedgerEvent, durability: "durable"): Promise<number>;
  record(event: LedgerEvent, durability: Durability): Promise<number | undefined>;
  record(event: LedgerEvent, durability: Durability): Promise<number | undefined> {
    if (this.closing !== undefined) return Promise.reject(ledgerUnavailable("the ledger is closed"));
    if (this.waitingCount() + this.turn.length >= this.queueMax) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const entry = pendingEntry(event, durability);
      const characters = entry.payload.length;
      if (this.waitingCharacters > 0 && this.waitingCharacters + characters > LEDGER_QUEUE_CHARACTERS_MAX)
        throw overloaded();
      this.waitingCharacters += characters;
      // A ledger that is known to take nothing refuses at once: the spool is for waiting, not for doing without.
      const spooled = this.spools && this.problem === undefined && this.spool.take(entry);
      this.turn.push({ sent: { entry, after: this.spool.last }, spooled, resolve, reject });
      if (this.turn.length === 1) queueMicrotask(() => this.flush());
    });
  }

  async openIntents(): Promise<readonly OpenIntent[]> {
    const answer = await this.ask({ kind: "open_intents" });
    assert(answer.kind === "intents", "the worker answers what it was asked");
    return answer.intents;
  }

  async spooledInstances(): Promise<readonly string[]> {
    const answer = await this.ask({ kind: "spooled_instances" });
    assert(answer.kind === "instances", "the worker answers what it was asked");
    return answer.instances;
  }

  async recoverSpool(instanceId: string, nowMs: number): Promise<SpoolRecovery> {
    assert(instanceId !== this.data.instanceId, "an instance does not recover its own spool");
    const answer = await this.ask({ kind: "recover_spool", instanceId, nowMs });
    assert(answer.kind === "recovery", "the worker answers what it was asked");
    return answer.recovery;
  }

  ready(): Promise<void> {
    return this.opening.promise;
  }

  health(): LedgerHealth {
    const waiting = this.waitingCount();
    return this.problem === undefined
      ? { writable: true, waiting }
      : { writable: false, problem: this.problem, waiting };
  }

  spoolBytes(): number {
    return this.spool.extent.bytes;
  }

  isAnew(): boolean {
    return this.begunAnew;
  }

  rest(): Promise<void> {
    const busy = this.turn.length > 0 || this.waitingCount() > 0 || this.questions.size > 0 || this.spool.dirty;
    const ended = this.worker === undefined || this.closing !== undefined;
    if (!this.restarts || ended || busy || this.problem !== undefined) return Promise.resolve();
    this.send({ kind: "rest" });
    this.resting = Promise.withResolvers();
    return this.resting.promise;
  }

  close(): Promise<void> {
    if (this.closing !== undefined) return this.closing.promise;
    this.flush();
    if (this.spool.hasUnsent) this.sendAppend([]);
    clearTimeout(this.timer);
    this.closing = Promise.withResolvers();
    if (this.worker === undefined) this.closing.resolve();
    else this.send({ kind: "close" });
    return this.closing.promise;
  }

  /** Ends a turn: spools what can be spooled, acknowledges it, and sends the rest. */
  private flush(): void {
    const turn = this.turn;
    if (turn.length === 0) return;
    this.turn = [];
    const unsentBefore = this.spool.hasUnsent;
    const written = this.spool.write();
    if (!this.attended && this.spool.dirty) this.syncTimer ??= setTimeout(() => this.syncSpool(), SEND_AFTER_MS);
    const events: SentEvent[] = [];
    for (const { sent, spooled, resolve, reject } of turn) {
      const characters = sent.entry.payload.length;
      if (spooled && written) {
        this.waitingCharacters -= characters;
        resolve(undefined);
      } else {
        events.push(sent);
        this.waiting.push({ resolve, reject, characters });
      }
    }
    if (events.length > 0 || this.spool.shouldSend) this.sendAppend(events);
    else if (!unsentBefore) this.announce();
  }

  private sendAppend(events: readonly SentEvent[]): void {
    const spool = this.spool.hasUnsent ? { spool: this.spool.extent } : {};
    this.spool.sent(); // sending may find that there is no worker, and then it was not
    this.send({ kind: "append", events, ...spool });
  }

  /**
   * Something was spooled: the worker hears of it soon, and watches over the promise should this thread be kept from
   * it.
   */
  private announce(): void {
    this.send({ kind: "spooling" });
    this.unsentSinceMs = performance.now();
    this.timer ??= setTimeout(() => this.sendUnsent(), SEND_AFTER_MS);
  }

  private sendUnsent(): void {
    this.timer = undefined;
    if (!this.spool.hasUnsent || this.closing !== undefined) return;
    const restMs = this.unsentSinceMs + SEND_AFTER_MS - performance.now();
    if (restMs > 1) this.timer = setTimeout(() => this.sendUnsent(), restMs);
    else this.sendAppend([]);
  }

  private syncSpool(): void {
    this.syncTimer = undefined;
    if (this.attended) return;
    try {
      this.spool.sync();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      this.problem = error.message;
    }
  }

  private async ask(question: LedgerQuestion): Promise<LedgerAnswer> {
    if (this.closing !== undefined) throw ledgerUnavailable("the ledger is closed");
    const id = this.nextQuestion++;
    const waiting = Promise.withResolvers<LedgerAnswer>();
    this.questions.set(id, waiting);
    this.send({ kind: "question", id, question });
    return waiting.promise;
  }

  private send(request: LedgerRequest): void {
    this.stay();
    try {
      this.worker ??= this.spawn();
    } catch (error) {
      this.lost(undefined, error instanceof Error ? error : undefined); // the machine gives no more threads
      return;
    }
    this.worker.ref();
    this.worker.postMessage(request);
  }

  /** There is something to do, or nobody to rest. */
  private stay(): void {
    this.resting?.resolve();
    this.resting = undefined;
  }

  /** Nothing was sent since the worker was asked, so that it holds nothing that was not answered. */
  private async rested({ closed, known }: Extract<LedgerReply, { kind: "rested" }>): Promise<void> {
    this.known = known ?? this.known;
    const { worker, resting } = this;
    if (worker === undefined || resting === undefined) return;
    this.resting = undefined;
    if (closed) {
      this.worker = undefined;
      this.attended = false;
      await worker.terminate();
    }
    resting.resolve();
  }

  private spawn(): Worker {
    const worker = new Worker(ownProgram(import.meta.url, "./ledger-worker.ts"), {
      workerData: { ...this.data, ...(this.known && { known: this.known }) } satisfies LedgerWorkerData,
    });
    worker.unref();
    worker.on("message", (reply: LedgerReply) => this.answer(reply));
    worker.on("error", (error) => this.lost(worker, error));
    worker.on("exit", () => this.lost(worker, undefined));
    return worker;
  }

  private answer(reply: LedgerReply): void {
    if (reply.kind === "appended") this.appended(reply);
    else if (reply.kind === "refused") this.refused(reply.count, reply.failure);
    else if (reply.kind === "opened") this.opened(reply);
    else if (reply.kind === "sync_failed") this.problem = reply.failure.message;
    else if (reply.kind === "writable") this.problem = undefined;
    else if (reply.kind === "closed") this.closed(reply.failure);
    else if (reply.kind === "rested") void this.rested(reply);
    else this.answerQuestion(reply.id, reply.answer);
    // What was spooled is safe without this process: a ledger that cannot take it must not keep the process from
    // ending.
    const done = !this.spool.dirty || this.problem !== undefined;
    const idle = done && this.waitingCount() === 0 && this.questions.size === 0;
    if (idle && this.closing === undefined) this.worker?.unref();
  }

  private appended({ sequences, spool }: Extract<LedgerReply, { kind: "appended" }>): void {
    this.problem = undefined;
    for (const sequence of sequences) {
      const waiting = this.next();
      if (sequence === 0) waiting?.reject(new IntentNotOpenError());
      else waiting?.resolve(sequence);
    }
    this.spool.held(spool);
  }

  private refused(count: number, { message }: Failure): void {
    this.problem = message;
    for (let index = 0; index < count; index++) this.next()?.reject(ledgerUnavailable(message));
  }

  private opened({ failure, known, isAnew }: Extract<LedgerReply, { kind: "opened" }>): void {
    this.attended = true;
    this.begunAnew ||= isAnew === true;
    this.known = known ?? this.known;
    this.problem = failure?.message;
    if (failure === undefined) this.opening.resolve();
    else this.opening.reject(new KernelError(failure.code, failure.message));
  }

  private closed(failure: Failure | undefined): void {
    this.spool.close();
    if (failure === undefined) this.closing?.resolve();
    else this.closing?.reject(new KernelError(failure.code, failure.message));
  }

  private answerQuestion(id: number, answer: LedgerAnswer): void {
    const question = this.questions.get(id);
    this.questions.delete(id);
    if (answer.kind === "failed") question?.reject(new KernelError(answer.failure.code, answer.failure.message));
    else question?.resolve(answer);
  }

  /**
   * The worker is gone: what it had not answered is refused; what was spooled and what was not sent goes to its
   * successor.
   */
  private lost(worker: Worker | undefined, cause: Error | undefined): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.attended = false;
    this.stay();
    const error = ledgerUnavailable("the ledger's thread ended", cause);
    this.problem = error.message;
    this.opening.reject(error);
    for (let count = this.waitingCount(); count > 0; count--) this.next()?.reject(error);
    for (const question of this.questions.values()) question.reject(error);
    this.questions.clear();
    this.spool.unsend();
    if (this.closing !== undefined) {
      this.spool.close();
      this.closing.reject(error);
    } else if (this.spool.hasUnsent) this.timer ??= setTimeout(() => this.sendUnsent(), LEDGER_RETRY_MS).unref();
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
  return ledgerUnavailable("too many events wait for the ledger; try again later");
}
