/**
 * The worker thread that alone writes the ledger: group commit.
 *
 * Takes everything that waits, up to the batch limit, into one transaction, and acknowledges it when the strongest
 * promise in it holds. Batches without a durable event are fsynced within the sync interval. A ledger that cannot be
 * written is tried again from time to time, and with every event.
 *
 * INVARIANT: events are answered in the order they came, each exactly once. INVARIANT: after a failed write or sync the
 * store is closed, and the next events open it anew: nothing is assumed about what a failed file descriptor kept.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { assert, KernelError } from "../base/errors.ts";
import { systemRandom } from "../base/ids.ts";
import { LEDGER_BATCH_MAX, LEDGER_RETRY_MS, LEDGER_SYNC_MS } from "../base/limits.ts";
import type { PendingEntry } from "../ledger/chain.ts";
import { appendBatch, readOpenIntents } from "../ledger/ledger.ts";
import type { LedgerStore } from "../ledger/ledger-store.ts";
import { openLedgerStore } from "../stores/embedded/ledger-store.ts";
import type { Failure, LedgerReply, LedgerRequest, LedgerWorkerData } from "./ledger-messages.ts";

/** Half of what is promised: the sync itself and a long transaction take time too. */
const SYNC_AFTER_MS = LEDGER_SYNC_MS / 2;

class LedgerWorker {
  private readonly port: MessagePort;
  private readonly data: LedgerWorkerData;
  private store: LedgerStore | undefined;
  private queue: PendingEntry[] = [];
  private readonly questions: number[] = [];
  private closing = false;
  private running = false;
  /** When the next sync is due, on the monotonic clock; absent while everything acknowledged is durable. */
  private syncAtMs: number | undefined;
  /** The last attempt to write failed. */
  private failing = false;
  private syncTimer: NodeJS.Timeout | undefined;

  constructor(port: MessagePort, data: LedgerWorkerData) {
    this.port = port;
    this.data = data;
  }

  async start(): Promise<void> {
    this.running = true;
    try {
      await this.opened();
      this.reply({ kind: "opened" });
    } catch (error) {
      this.failed(LEDGER_RETRY_MS);
      this.reply({ kind: "opened", failure: failureOf(error) });
    }
    this.port.on("message", (request: LedgerRequest) => {
      this.take(request);
      if (!this.running) void this.run();
    });
    await this.run();
  }

  private take(request: LedgerRequest): void {
    if (request.kind === "append") this.queue = this.queue.length === 0 ? [...request.events] : this.queue.concat(request.events);
    else if (request.kind === "open_intents") this.questions.push(request.id);
    else this.closing = true;
  }

  /** Works until nothing waits and nothing is due. */
  private async run(): Promise<void> {
    this.running = true;
    for (;;) {
      this.drain();
      if (this.syncDue()) await this.sync();
      if (this.queue.length > 0) await this.append();
      else if (this.questions.length > 0) await this.answer();
      else break;
    }
    this.running = false;
    if (this.closing) await this.close();
    else if (this.syncAtMs !== undefined) this.scheduleSync(this.syncAtMs);
  }

  /** Takes what is waiting in the port, so that it joins this transaction rather than the next. */
  private drain(): void {
    while (this.queue.length < LEDGER_BATCH_MAX) {
      const waiting = receiveMessageOnPort(this.port);
      if (waiting === undefined) return;
      this.take(waiting.message as LedgerRequest);
    }
  }

  private async append(): Promise<void> {
    const batch = this.queue.slice(0, LEDGER_BATCH_MAX);
    this.queue = this.queue.slice(LEDGER_BATCH_MAX);
    try {
      const sequences = await appendBatch(await this.opened(), batch, this.data.instanceId, systemRandom);
      if (batch.some((event) => event.durability === "durable")) this.syncAtMs = undefined;
      else this.syncAtMs ??= performance.now() + SYNC_AFTER_MS;
      this.failing = false;
      this.reply({ kind: "appended", sequences });
    } catch (error) {
      this.failed(SYNC_AFTER_MS);
      await this.abandon();
      this.reply({ kind: "refused", count: batch.length, failure: failureOf(error) });
    }
  }

  private async answer(): Promise<void> {
    const id = this.questions.shift();
    assert(id !== undefined, "a question waits");
    try {
      this.reply({ kind: "intents", id, intents: await readOpenIntents(await this.opened()) });
    } catch (error) {
      this.reply({ kind: "intents_failed", id, failure: failureOf(error) });
    }
  }

  private failed(retryAfterMs: number): void {
    this.failing = true;
    this.syncAtMs ??= performance.now() + retryAfterMs;
  }

  private syncDue(): boolean {
    return this.syncAtMs !== undefined && performance.now() >= this.syncAtMs;
  }

  private scheduleSync(atMs: number): void {
    this.syncTimer ??= setTimeout(
      () => {
        this.syncTimer = undefined;
        if (!this.running) void this.run();
      },
      Math.max(1, Math.ceil(atMs - performance.now())),
    );
  }

  /** A failed sync stays due, so that it is tried again; one that succeeds after a failure shows that writing works. */
  private async sync(): Promise<void> {
    try {
      await (await this.opened()).sync();
      this.syncAtMs = undefined;
      if (this.failing) this.reply({ kind: "recovered" });
      this.failing = false;
    } catch (error) {
      this.syncAtMs = undefined;
      this.failed(LEDGER_RETRY_MS);
      await this.abandon();
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  private async close(): Promise<void> {
    clearTimeout(this.syncTimer);
    let failure: Failure | undefined;
    try {
      if (this.syncAtMs !== undefined) await this.store?.sync();
      await this.store?.close();
    } catch (error) {
      failure = failureOf(error);
    }
    this.reply({ kind: "closed", ...(failure === undefined ? {} : { failure }) });
    this.port.close();
  }

  private async opened(): Promise<LedgerStore> {
    this.store ??= await openLedgerStore(this.data.stateDirectory);
    return this.store;
  }

  private async abandon(): Promise<void> {
    const store = this.store;
    this.store = undefined;
    try {
      await store?.close();
    } catch (error) {
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  private reply(reply: LedgerReply): void {
    this.port.postMessage(reply);
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof KernelError) return { code: error.code, message: error.message };
  return { code: "LEDGER_UNAVAILABLE", message: "the ledger cannot be written" };
}

assert(parentPort !== null, "the ledger's worker runs in a worker thread");
void new LedgerWorker(parentPort, workerData as LedgerWorkerData).start();
