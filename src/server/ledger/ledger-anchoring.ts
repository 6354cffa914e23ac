/**
 * Maintains the anchor of the ledger that this process writes.
 *
 * It compares the two when the ledger is opened, and moves the anchor along. The first durable append of a kernel is
 * anchored before it is acknowledged, later ones within a pause, so that what a cut ledger could lose unseen is
 * bounded.
 *
 * INVARIANT: only a head that is durable is anchored.
 *
 * INVARIANT: a ledger that does not fit its anchor takes nothing. An empty one says first which chain is gone.
 */

import { type KernelError, storeCorrupt } from "../../base/errors.ts";
import type { RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { BY_KERNEL } from "../../ledger/actors.ts";
import { chainOf, compareWithAnchor, lostChain } from "../../ledger/anchor.ts";
import type { AnchorStore } from "../../ledger/anchor-store.ts";
import { chainEntries, pendingEntry } from "../../ledger/chain.ts";
import { appendBatch } from "../../ledger/ledger.ts";
import type { Head, LedgerStore } from "../../ledger/ledger-store.ts";
import type { LedgerEvent } from "../../model/outcome/event.ts";

/**
 * Milliseconds between two moves of the ledger's anchor: each costs an fsync, and entries younger than that may be cut
 * off unseen.
 */
export const LEDGER_ANCHOR_PAUSE_MS = 1_000;

/** Who anchors, and with what. */
export interface AnchoringParts {
  readonly anchors: AnchorStore;
  readonly instanceId: string;
  readonly random: RandomBytes;
  readonly nowMs: () => number;
  /** Whether a ledger was there before, whatever is left of it. */
  readonly expectsChain: boolean;
}

/** The anchoring of one ledger. */
export class LedgerAnchoring {
  readonly #parts: AnchoringParts;
  #chain: Uint8Array | undefined;
  #hasBegunAnew = false;
  /** A durable head that is not anchored. */
  #pending: Head | undefined;
  /** On the monotonic clock; 0 before the first. */
  #nextAtMs = 0;

  constructor(parts: AnchoringParts) {
    this.#parts = parts;
  }

  /** Whether a chain was gone when the ledger was opened, so that another one was begun. */
  get hasBegunAnew(): boolean {
    return this.#hasBegunAnew;
  }

  /** When the anchor has to move, on the monotonic clock; absent while it is where it should be. */
  get dueAtMs(): number | undefined {
    return this.#pending && this.#nextAtMs;
  }

  /** Compares a ledger that was just opened with its anchor. @throws KernelError STORE_CORRUPT when they do not fit */
  async open(store: LedgerStore): Promise<void> {
    const { anchors } = this.#parts;
    const anchor = anchors.read();
    const finding = await compareWithAnchor(store, anchor);
    if (finding.kind === "broken") throw notTheAnchored(finding.problem);
    if (finding.kind === "gone") await this.#beginAnew(store, lostChain(finding.lost));
    const isUnexplained = anchor === undefined && this.#parts.expectsChain && (await store.head()).sequence === 0;
    if (isUnexplained) await this.#beginAnew(store, "with its anchor");
    this.#chain = await chainOf(store);
    const isNew = finding.kind === "gone" || finding.kind === "begun_anew";
    if (isNew && this.#chain) anchors.replace({ chain: this.#chain, sequence: 1, hash: this.#chain }, anchor?.chain);
  }

  /**
   * The store holds everything up to its head durably. Anchors it at once the first time, later when the pause is over.
   */
  async appended(store: LedgerStore): Promise<void> {
    this.#pending = store.place().head;
    if (performance.now() >= this.#nextAtMs) await this.anchor(store);
  }

  /** Anchors what waits for it. */
  async anchor(store: LedgerStore): Promise<void> {
    const head = this.#pending;
    if (head === undefined) return;
    this.#chain ??= await chainOf(store);
    if (this.#chain === undefined) return;
    const done = this.#parts.anchors.advance({ chain: this.#chain, ...head });
    if (!(await store.anchored())) await store.markAnchored();
    else if (done === "made") await this.#recordRewritten(store, this.#chain);
    this.#pending = undefined;
    this.#nextAtMs = performance.now() + LEDGER_ANCHOR_PAUSE_MS;
  }

  /** Anchors what waits for it, and says nothing in the ledger, which is damaged. */
  keep(): void {
    const head = this.#pending;
    this.#pending = undefined;
    if (head !== undefined && this.#chain !== undefined) this.#parts.anchors.advance({ chain: this.#chain, ...head });
  }

  /**
   * The anchor was removed or emptied since it was last written: this ledger is whole as far as this kernel knows it,
   * and says what happened.
   */
  async #recordRewritten(store: LedgerStore, chain: Uint8Array): Promise<void> {
    const { anchors, instanceId, random, nowMs } = this.#parts;
    const payload = { instance_id: instanceId, severity: "critical" };
    const event = { type: "anchor_rewritten", ...BY_KERNEL, timeMs: nowMs(), payload } as const;
    await appendBatch(store, [pendingEntry(event, "durable")], { instanceId, random });
    anchors.advance({ chain, ...store.place().head });
  }

  /** Tries no sooner than that. */
  postpone(pauseMs: number): void {
    this.#nextAtMs = performance.now() + pauseMs;
  }

  async #beginAnew(store: LedgerStore, lost: JsonObject | string): Promise<void> {
    const { instanceId, random, nowMs } = this.#parts;
    this.#hasBegunAnew = true;
    const entry = pendingEntry(restarted({ lost }, nowMs()), "durable");
    // Another kernel may have been faster: then the chain has begun.
    await store.append({
      durability: "durable",
      closes: [],
      build: (view) => (view.head.sequence === 0 ? chainEntries(view, [entry], { instanceId, random }).entries : []),
    });
  }
}

/** The event that a chain is gone, or shorter than it was. */
export function restarted(payload: LedgerEvent["payload"], timeMs: number): LedgerEvent {
  return { type: "ledger_restarted", ...BY_KERNEL, timeMs, payload: { ...payload, severity: "critical" } };
}

function notTheAnchored(problem: string): KernelError {
  const advice =
    "stop every kernel and restore the newest backup, or accept the loss with `handrail ledger accept --reason <why>`";
  return storeCorrupt(`\`ledger.db\` in the state directory is not what it was: ${problem}; ${advice}`);
}
