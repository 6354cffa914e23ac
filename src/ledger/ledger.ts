/**
 * The ledger stage: appends events to a store as one chain, and reads them back.
 *
 * Decides nothing about what is worth recording. Trusts the store for atomicity alone; everything read back is decoded
 * strictly, and `verifyLedger` trusts nothing at all.
 */
import { textOf } from "../base/bytes.ts";
import { type KernelError, ledgerUnavailable, storeCorrupt } from "../base/errors.ts";
import type { RandomBytes } from "../base/ids.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { type ChainedBatch, type Chainer, chainEntries, type ReadyEntry } from "./chain.ts";
import { decodeEntry, type LedgerEntry } from "./entry.ts";
import type { AppendRequest, AppendView, LedgerRow, LedgerStore, SpoolMark } from "./ledger-store.ts";
import type { OpenIntent } from "./orphans.ts";

/** Open intents that one verification or one closing of orphans follows. */
export const LEDGER_OPEN_INTENTS_MAX = 65_536;

/** An entry with what stands beside it. */
export interface LedgerRecord {
  readonly entry: LedgerEntry;
  readonly hash: Uint8Array;
  /** Absent once pruned. */
  readonly payload?: Uint8Array;
}

/** An event to append; `counter` is its place in the spool that it comes from, 0 if it comes from none. */
export interface BatchEvent {
  readonly entry: ReadyEntry;
  readonly counter: number;
}

/** Events of one instance, some of which may stand in the ledger already. */
export interface SpooledBatch {
  readonly events: readonly BatchEvent[];
  /** Everything that was spooled up to this counter is in the ledger afterwards. */
  readonly mark: SpoolMark;
  /** Who recorded the events; the mark's instance unless said. */
  readonly recordedBy?: string;
  /** Asked inside the write transaction: whether there is still something to append. */
  readonly stands?: () => boolean;
}

/**
 * Appends a batch in one transaction; durable if any of its events is.
 * @returns the sequence of each event, 0 where it would have closed an intent that is not open
 */
export async function appendBatch(
  store: LedgerStore,
  batch: readonly ReadyEntry[],
  by: Chainer,
): Promise<readonly number[]> {
  const durability = batch.some((event) => event.durability === "durable") ? "durable" : "buffered";
  const chained = await append(store, { durability, closes: closesOf(batch) }, (view) => chainEntries(view, batch, by));
  return chained.sequences;
}

/**
 * Appends a batch with spooled events durably, leaving out what the ledger holds of the spool already.
 * @returns the sequence of each event, 0 where it was left out or would have closed an intent that is not open
 */
export async function appendSpooled(
  store: LedgerStore,
  batch: SpooledBatch,
  random: RandomBytes,
): Promise<readonly number[]> {
  const { events, mark, recordedBy = mark.instanceId, stands = () => true } = batch;
  const entries = events.map(({ entry }) => entry);
  const sequences = events.map(() => 0);
  await append(store, { durability: "durable", closes: closesOf(entries), spooled: mark }, (view) => {
    const through = view.spooledThrough(mark.instanceId);
    const isNew = stands() ? events.map(({ counter }) => counter === 0 || counter > through) : [];
    const chained = chainEntries(
      view,
      entries.filter((_, index) => isNew[index]),
      { instanceId: recordedBy, random },
    );
    let next = 0;
    isNew.forEach((included, index) => {
      if (included) sequences[index] = chained.sequences[next++] ?? 0;
    });
    return chained;
  });
  return sequences;
}

async function append(
  store: LedgerStore,
  request: Omit<AppendRequest, "build">,
  chain: (view: AppendView) => ChainedBatch,
): Promise<ChainedBatch> {
  let chained: ChainedBatch | undefined;
  await store.append({
    ...request,
    build: (view) => {
      chained = chain(view);
      return chained.entries;
    },
  });
  if (chained === undefined) throw ledgerUnavailable("the ledger's store did not take the entries");
  return chained;
}

function closesOf(batch: readonly ReadyEntry[]): readonly number[] {
  return batch.flatMap((event) => (event.closes === 0 ? [] : [event.closes]));
}

/** Open intents with the call that each belongs to. */
export async function readOpenIntents(store: LedgerStore): Promise<readonly OpenIntent[]> {
  const intents: OpenIntent[] = [];
  for (const { sequence, instanceId } of await store.openIntents(LEDGER_OPEN_INTENTS_MAX)) {
    const [row] = await store.read(sequence, 1);
    if (row?.sequence !== sequence) throw damaged(sequence);
    const { entry, payload } = ledgerRecord(row);
    const { sessionId, actor, requestId } = entry;
    const branchAct = entry.eventType === "branch_act_begun" ? factsIn(payload) : undefined;
    intents.push({ sequence, instanceId, sessionId, actor, requestId, ...(branchAct !== undefined && { branchAct }) });
  }
  return intents;
}

/** An intent's payload; one that was pruned says nothing. */
function factsIn(payload: Uint8Array | undefined): JsonObject {
  const value: unknown = payload === undefined ? undefined : JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(value) ? value : {};
}

/**
 * The record that a row holds.
 * @throws KernelError STORE_CORRUPT when its bytes are not a canonical entry
 */
export function ledgerRecord(row: LedgerRow): LedgerRecord {
  const decoded = decodeEntry(row.entry);
  if (decoded.kind === "malformed") throw damaged(row.sequence);
  return { entry: decoded.entry, hash: row.hash, ...(row.payload === undefined ? {} : { payload: row.payload }) };
}

function damaged(sequence: number): KernelError {
  return storeCorrupt(`entry ${sequence} of the ledger is damaged; run \`handrail ledger verify\``);
}
