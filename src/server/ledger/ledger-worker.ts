/**
 * The worker thread that alone writes the ledger: group commit.
 *
 * Takes everything that waits, up to the batch limit, into one transaction, and acknowledges it when the strongest
 * promise in it holds: what comes from the spool stands before what was recorded after it. Batches without a durable
 * or a spooled event are fsynced within the sync interval, and so is a spool of which nothing more is heard in time. A
 * ledger that cannot be written is tried again from time to time, and with every event.
 *
 * INVARIANT: events are answered in the order they came, each exactly once. INVARIANT: after a failed write or sync the
 * store is closed, and the next events open it anew: nothing is assumed about what a failed file descriptor kept.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { assert, KernelError, ledgerUnavailable } from "../../base/errors.ts";
import { systemRandom } from "../../base/ids.ts";
import { LEDGER_BATCH_MAX } from "../../base/limits.ts";
import { BY_KERNEL } from "../../ledger/actors.ts";
import { pendingEntry } from "../../ledger/chain.ts";
import { appendBatch, appendSpooled, type BatchEvent, readOpenIntents } from "../../ledger/ledger.ts";
import type { LedgerPlace, LedgerStore } from "../../ledger/ledger-store.ts";
import { recoverSpool, spooledInstances } from "../../ledger/spool-recovery.ts";
import type { SpoolStore } from "../../ledger/spool-store.ts";
import { LedgerWatch } from "../../ledger/watch.ts";
import { openAnchorStore } from "../../stores/embedded/ledger/anchor-store.ts";
import { FileDamageNote } from "../../stores/embedded/ledger/damage-note.ts";
import { requireClaim } from "../../stores/embedded/ledger/instance-store.ts";
import { LedgerDamage } from "../../stores/embedded/ledger/ledger-damage.ts";
import { openLedgerStore, openSoundLedgerStore } from "../../stores/embedded/ledger/ledger-store.ts";
import { openSpoolStore } from "../../stores/embedded/ledger/spool-store.ts";
import { collectHeap, IdleMemory } from "./idle-memory.ts";
import { LedgerAnchoring } from "./ledger-anchoring.ts";
import { SpoolIntake } from "./ledger-intake.ts";
import {
  type Failure,
  failureOf,
  type LedgerAnswer,
  type LedgerQuestion,
  type LedgerReply,
  type LedgerRequest,
  type LedgerWorkerData,
  type SentEvent,
} from "./ledger-messages.ts";
import { withLedgerReader } from "./ledger-reader.ts";
import { LEDGER_RETRY_MS, LEDGER_SYNC_MS } from "./limits.ts";

/** Half of what is promised: the sync itself and a long transaction take time too. */
const SYNC_AFTER_MS = LEDGER_SYNC_MS / 2;
/** Later than the main thread sends what was spooled, if nothing keeps it from that. */
const SYNC_SPOOL_AFTER_MS = LEDGER_SYNC_MS * 0.75;

class LedgerWorker {
  private readonly port: MessagePort;
  private readonly data: LedgerWorkerData;
  private store: LedgerStore | undefined;
  /** Where the ledger stood when it was last open: it is not continued anywhere else. */
  private known: LedgerPlace | undefined;
  private readonly anchoring: LedgerAnchoring;
  private readonly watch: LedgerWatch;
  private readonly damage: LedgerDamage;
  private readonly spools: SpoolStore;
  private readonly intake: SpoolIntake;
  private queue: SentEvent[] = [];
  private readonly questions: Extract<LedgerRequest, { kind: "question" }>[] = [];
  private closing = false;
  private restAsked = false;
  private running = false;
  /** When the next sync is due, on the monotonic clock; absent while everything acknowledged is durable. */
  private syncAtMs: number | undefined;
  /** Why the last attempt to write failed, if it did. */
  private failing: unknown;
  private spoolLossRecorded = false;
  private syncTimer: NodeJS.Timeout | undefined;
  /** When the spool has to be synced unless an append comes first. */
  private spoolSyncAtMs: number | undefined;
  private spoolTimer: NodeJS.Timeout | undefined;
  private readonly idle = new IdleMemory(() => collectHeap());

  constructor(port: MessagePort, data: LedgerWorkerData) {
    this.port = port;
    this.data = data;
    this.known = data.known;
    const { stateDirectory, instanceId } = data;
    this.anchoring = new LedgerAnchoring({
      anchors: openAnchorStore(stateDirectory),
      instanceId,
      random: systemRandom,
      nowMs: systemClock.nowMs,
      expectsChain: data.expectsChain === true,
    });
    this.watch = new LedgerWatch(() => openSoundLedgerStore(stateDirectory), data.known?.changedNs);
    this.damage = new LedgerDamage({
      note: new FileDamageNote(stateDirectory),
      verify: () => withLedgerReader(stateDirectory, (reader) => reader.verify()),
      onFound: () => this.anchoring.keep(),
    });
    this.spools = openSpoolStore(data.stateDirectory);
    this.intake = new SpoolIntake(this.spools, data.instanceId);
  }

  async start(): Promise<void> {
    this.running = true;
    try {
      const known = (await this.opened()).place();
      this.reply({ kind: "opened", known, ...(this.anchoring.hasBegunAnew && { isAnew: true }) });
    } catch (error) {
      this.failed(error, LEDGER_RETRY_MS);
      this.reply({ kind: "opened", failure: failureOf(error) });
    }
    this.port.on("message", (request: LedgerRequest) => {
      this.take(request);
      if (!this.running) void this.run();
    });
    await this.run();
  }

  private take(request: LedgerRequest): void {
    if (request.kind === "append") this.takeEvents(request);
    else if (request.kind === "spooling") this.watchSpool();
    else if (request.kind === "question") this.questions.push(request);
    else if (request.kind === "rest") this.restAsked = true;
    else this.closing = true;
  }

  private takeEvents({ events, spool }: Extract<LedgerRequest, { kind: "append" }>): void {
    this.queue = this.queue.length === 0 ? [...events] : this.queue.concat(events);
    if (spool === undefined) return;
    this.intake.extend(spool);
    this.spoolSyncAtMs = undefined;
  }

  /** Works until nothing waits and nothing is due. */
  private async run(): Promise<void> {
    this.running = true;
    for (let stuck = false; ; ) {
      this.drain();
      if (this.syncDue()) {
        stuck = false;
        if (!this.intake.waiting) await this.sync();
      }
      if (this.anchorDue()) await this.anchor();
      if (this.queue.length > 0 || (this.intake.waiting && !stuck)) stuck = !(await this.append());
      else if (this.questions.length > 0) await this.answer();
      else if (this.restAsked) await this.rest();
      else break;
    }
    this.running = false;
    this.idle.touch();
    if (this.closing) await this.close();
    else this.schedule(Math.min(this.syncAtMs ?? Infinity, this.anchoring.dueAtMs ?? Infinity));
  }

  /** Takes what is waiting in the port, so that it joins this transaction rather than the next. */
  private drain(): void {
    while (this.queue.length < LEDGER_BATCH_MAX) {
      const waiting = receiveMessageOnPort(this.port);
      if (waiting === undefined) return;
      this.take(waiting.message as LedgerRequest);
    }
  }

  /** One transaction. @returns whether it was committed */
  private async append(): Promise<boolean> {
    let batch = this.queue.slice(0, LEDGER_BATCH_MAX);
    try {
      const store = await this.intact();
      batch = this.queue.slice(0, LEDGER_BATCH_MAX); // with what came meanwhile: spooled events stand among others
      const events = this.intake.before(batch);
      const taken = events.filter(({ counter }) => counter === 0).length;
      const sequences = await this.write(store, events);
      this.queue = this.queue.slice(taken);
      this.failing = undefined;
      this.reply({ kind: "appended", sequences, spool: this.intake.commit() });
      return true;
    } catch (error) {
      this.queue = this.queue.slice(batch.length);
      this.intake.rollBack();
      if (this.syncDue()) this.syncAtMs = undefined;
      this.failed(error, this.intake.waiting ? LEDGER_RETRY_MS : SYNC_AFTER_MS);
      if (this.intake.waiting && error instanceof KernelError && error.code === "STORE_CORRUPT")
        await this.recordSpoolLoss();
      await this.abandon();
      this.reply({ kind: "refused", count: batch.length, failure: failureOf(error) });
      return false;
    }
  }

  /** What stood in a spool that was removed or overwritten is lost, and the chain says so once. */
  private async recordSpoolLoss(): Promise<void> {
    if (this.spoolLossRecorded || this.store === undefined) return;
    const { instanceId } = this.data;
    const payload = { instance_id: instanceId, unreadBytes: this.intake.unreadBytes, severity: "critical" };
    const event = { type: "spool_damaged", ...BY_KERNEL, timeMs: systemClock.nowMs(), payload } as const;
    try {
      await appendBatch(this.store, [pendingEntry(event, "durable")], { instanceId, random: systemRandom });
      this.spoolLossRecorded = true;
    } catch (error) {
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  /** Sequences of the events that do not come from the spool. */
  private async write(store: LedgerStore, events: readonly BatchEvent[]): Promise<readonly number[]> {
    const { claim, instanceId } = this.data;
    if (claim) requireClaim(claim);
    const mark = this.intake.mark();
    const entries = events.map(({ entry }) => entry);
    const isDurable = mark !== undefined || entries.some((entry) => entry.durability === "durable");
    const sequences = await this.damage.noticing(() =>
      mark === undefined
        ? appendBatch(store, entries, { instanceId, random: systemRandom })
        : appendSpooled(store, { events, mark }, systemRandom),
    );
    if (isDurable) {
      this.syncAtMs = undefined;
      await this.anchoring.appended(store);
    } else this.syncAtMs ??= performance.now() + SYNC_AFTER_MS;
    return sequences.filter((_, index) => events[index]?.counter === 0);
  }

  private async answer(): Promise<void> {
    const asked = this.questions.shift();
    assert(asked !== undefined, "a question waits");
    this.reply({ kind: "answered", id: asked.id, answer: await this.answerTo(asked.question) });
  }

  private async answerTo(question: LedgerQuestion): Promise<LedgerAnswer> {
    try {
      const store = await this.opened();
      if (question.kind === "open_intents") return { kind: "intents", intents: await readOpenIntents(store) };
      if (question.kind === "spooled_instances")
        return { kind: "instances", instances: await spooledInstances(store, this.spools) };
      const by = { instanceId: this.data.instanceId, random: systemRandom, nowMs: question.nowMs };
      return {
        kind: "recovery",
        recovery: await recoverSpool({ store, spools: this.spools }, question.instanceId, by),
      };
    } catch (error) {
      return { kind: "failed", failure: failureOf(error) };
    }
  }

  /** The main thread may be busy for long after it acknowledged what it spooled. */
  private watchSpool(): void {
    this.spoolSyncAtMs ??= performance.now() + SYNC_SPOOL_AFTER_MS;
    this.spoolTimer ??= setTimeout(() => this.syncSpool(), SYNC_SPOOL_AFTER_MS);
  }

  private syncSpool(): void {
    this.spoolTimer = undefined;
    if (this.spoolSyncAtMs === undefined) return;
    const restMs = this.spoolSyncAtMs - performance.now();
    if (restMs > 1) {
      this.spoolTimer = setTimeout(() => this.syncSpool(), restMs);
      return;
    }
    this.spoolSyncAtMs = undefined;
    try {
      this.spools.sync(this.data.instanceId);
    } catch (error) {
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  private failed(error: unknown, retryAfterMs: number): void {
    this.failing = error;
    this.syncAtMs ??= performance.now() + retryAfterMs;
  }

  private syncDue(): boolean {
    return this.syncAtMs !== undefined && performance.now() >= this.syncAtMs;
  }

  private schedule(atMs: number): void {
    clearTimeout(this.syncTimer);
    if (atMs === Infinity) return;
    const work = (): void => {
      if (!this.running) void this.run();
    };
    this.syncTimer = setTimeout(work, Math.max(1, Math.ceil(atMs - performance.now())));
  }

  private anchorDue(): boolean {
    const { dueAtMs } = this.anchoring;
    return dueAtMs !== undefined && performance.now() >= dueAtMs;
  }

  /** The anchor of what is durable already; what stops it stops everything, as a failed sync does. */
  private async anchor(): Promise<void> {
    try {
      await this.anchoring.anchor(await this.opened());
    } catch (error) {
      this.anchoring.postpone(LEDGER_RETRY_MS);
      this.failed(error, LEDGER_RETRY_MS);
      await this.abandon();
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  /** A failed sync stays due, so that it is tried again; one that succeeds after a failure shows that writing works. */
  private async sync(): Promise<void> {
    try {
      const store = await this.intact();
      await this.damage.noticing(() => store.sync());
      this.syncAtMs = undefined;
      if (this.failing) this.reply({ kind: "writable" });
      this.failing = undefined;
    } catch (error) {
      this.syncAtMs = undefined;
      this.failed(error, LEDGER_RETRY_MS);
      await this.abandon();
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  /** What was acknowledged is made durable first. A store that is needed after all is opened anew. */
  private async rest(): Promise<void> {
    this.restAsked = false;
    if (this.syncAtMs !== undefined) await this.sync();
    if (this.anchoring.dueAtMs !== undefined) await this.anchor();
    const busy = this.queue.length > 0 || this.questions.length > 0 || this.intake.waiting || this.closing;
    const closed = !busy && this.syncAtMs === undefined && this.spoolSyncAtMs === undefined;
    if (closed) await this.abandon();
    this.reply({ kind: "rested", closed, ...(this.known && { known: this.known }) });
  }

  private async close(): Promise<void> {
    clearTimeout(this.syncTimer);
    clearTimeout(this.spoolTimer);
    let failure: Failure | undefined;
    try {
      if (this.intake.used) await this.giveSpoolBack();
      if (this.syncAtMs !== undefined) await this.store?.sync();
      if (this.store) await this.anchoring.anchor(this.store);
    } catch (error) {
      failure = failureOf(error);
    }
    await this.abandon();
    if (this.damage.known) failure ??= failureOf(this.damage.known);
    this.reply({ kind: "closed", ...(failure === undefined ? {} : { failure }) });
    this.port.close();
  }

  /** A spool that the ledger does not hold stays for the next kernel. */
  private async giveSpoolBack(): Promise<void> {
    if (this.intake.waiting) {
      this.spools.sync(this.data.instanceId);
      throw ledgerUnavailable(failureOf(this.failing).message);
    }
    this.spools.remove(this.data.instanceId);
    await (await this.opened()).forgetSpool(this.data.instanceId);
  }

  /**
   * The store over the files that stand at their places: it is opened again where others do, and refused where the
   * ledger is lost or damaged.
   */
  private async intact(): Promise<LedgerStore> {
    let store = await this.opened();
    if (!store.inPlace()) {
      await this.abandon();
      store = await this.opened();
    }
    await this.damage.noticing(() => this.watch.require(store.changedNs()));
    return store;
  }

  private async opened(): Promise<LedgerStore> {
    if (this.store !== undefined) return this.store;
    await this.damage.require();
    const store = await openLedgerStore(this.data.stateDirectory, this.known);
    try {
      await this.anchoring.open(store);
      this.known = store.place();
    } catch (error) {
      await store.close();
      throw error;
    }
    this.store = store;
    return store;
  }

  private async abandon(): Promise<void> {
    const store = this.store;
    this.store = undefined;
    if (store) this.known = store.place();
    try {
      if (this.damage.known) await store?.leave();
      else await this.damage.noticing(async () => store?.close());
    } catch (error) {
      this.reply({ kind: "sync_failed", failure: failureOf(error) });
    }
  }

  private reply(reply: LedgerReply): void {
    this.port.postMessage(reply);
  }
}

assert(parentPort !== null, "the ledger's worker runs in a worker thread");
void new LedgerWorker(parentPort, workerData as LedgerWorkerData).start();
