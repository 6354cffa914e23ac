/**
 * Takes what dead instances left in their spools into the chain.
 *
 * Trusts the instance store that a free lock means a dead instance, and the ledger's mark for what it holds already.
 * INVARIANT: each spooled event is appended exactly once, however many kernels start at the same time: the append looks
 * inside the write transaction whether the spool still stands, and the mark is forgotten only after the spool is gone.
 * INVARIANT: a spool with damage is never removed; it is recorded and kept aside.
 */

import { type KernelError, storeCorrupt } from "../base/errors.ts";
import type { RandomBytes } from "../base/ids.ts";
import { LEDGER_BATCH_MAX, LEDGER_SPOOL_BYTES_MAX } from "../base/limits.ts";
import { BY_KERNEL } from "./actors.ts";
import { pendingEntry } from "./chain.ts";
import type { InstanceStore } from "./instance-store.ts";
import { appendSpooled } from "./ledger.ts";
import type { LedgerStore } from "./ledger-store.ts";
import { decodeFrames } from "./spool.ts";
import type { SpoolStore } from "./spool-store.ts";

/** Spools of dead instances that one start recovers; the next start takes the rest. */
const LEDGER_SPOOLS_RECOVERED_MAX = 1024;

/** What became of one spool. */
export interface SpoolRecovery {
  readonly instanceId: string;
  /** Events that this call appended. */
  readonly recovered: number;
  /** Frames that could not be read. */
  readonly damaged: number;
  /** File that keeps a damaged spool. */
  readonly keptAs?: string;
}

/** Where spools are found and recovered. */
export interface SpoolSource {
  /** Instances that left a spool or the mark of one, living ones too. */
  readonly spooledInstances: () => Promise<readonly string[]>;
  /** Recovers the spool of an instance. INVARIANT: it is dead. */
  readonly recoverSpool: (instanceId: string, nowMs: number) => Promise<SpoolRecovery>;
}

/** Where a spool lies, and where it is recovered to. */
interface SpoolPlaces {
  readonly store: LedgerStore;
  readonly spools: SpoolStore;
}

/** Who recovers, and when. */
export interface Recoverer {
  readonly instanceId: string;
  readonly random: RandomBytes;
  readonly nowMs: number;
}

/** The mark of a spool that was taken over completely: beyond every counter. */
const COMPLETE = Number.MAX_SAFE_INTEGER;

/**
 * Recovers the spools of all dead instances.
 * @returns what became of those that held something
 */
export async function recoverSpools(
  source: SpoolSource,
  instances: Pick<InstanceStore, "isAlive">,
  nowMs: number,
): Promise<readonly SpoolRecovery[]> {
  const recoveries: SpoolRecovery[] = [];
  for (const instanceId of await source.spooledInstances()) {
    if (await instances.isAlive(instanceId)) continue;
    const recovery = await source.recoverSpool(instanceId, nowMs);
    if (recovery.recovered > 0 || recovery.damaged > 0) recoveries.push(recovery);
  }
  return recoveries;
}

/** What the operator is told about a damaged spool; `undefined` when it was not damaged. */
export function spoolDamage({ instanceId, damaged, recovered, keptAs }: SpoolRecovery): KernelError | undefined {
  if (damaged === 0) return undefined;
  const facts = `${damaged} of the spooled events of \`${instanceId}\` cannot be read; ${recovered} were recovered`;
  return storeCorrupt(`${facts}, and the file is kept as \`spool/${keptAs ?? instanceId}\` in the state directory`);
}

/** Instances with a spool or the mark of one. */
export async function spooledInstances(store: LedgerStore, spools: SpoolStore): Promise<readonly string[]> {
  const marks = await store.spools(LEDGER_SPOOLS_RECOVERED_MAX);
  return [...new Set([...spools.list(LEDGER_SPOOLS_RECOVERED_MAX), ...marks.map(({ instanceId }) => instanceId)])];
}

/** Appends what the spool of a dead instance holds beyond the ledger's mark, and removes it or sets it aside. */
export async function recoverSpool(
  { store, spools }: SpoolPlaces,
  instanceId: string,
  by: Recoverer,
): Promise<SpoolRecovery> {
  const bytes = spools.read(instanceId, 0, LEDGER_SPOOL_BYTES_MAX + 1);
  const { spooled, damaged } = bytes === undefined ? { spooled: [], damaged: 0 } : readSpool(bytes);
  const stands = (): boolean => spools.exists(instanceId);
  let recovered = 0;
  for (let at = 0; at < spooled.length; at += LEDGER_BATCH_MAX) {
    const events = spooled.slice(at, at + LEDGER_BATCH_MAX);
    const mark = { instanceId, through: events.at(-1)?.counter ?? 0 };
    recovered += (await appendSpooled(store, { events, mark, stands }, by.random)).filter(
      (sequence) => sequence > 0,
    ).length;
  }
  if (damaged > 0) {
    const keptAs = await recordDamage({ store, spools }, { instanceId, recovered, damaged }, by);
    await store.forgetSpool(instanceId);
    return { instanceId, recovered, damaged, keptAs };
  }
  spools.remove(instanceId);
  await store.forgetSpool(instanceId);
  return { instanceId, recovered, damaged };
}

/** A file beyond the limit was not written by a kernel: its tail counts as damage, and nothing is cut off it. */
function readSpool(bytes: Uint8Array): Pick<ReturnType<typeof decodeFrames>, "spooled" | "damaged"> {
  const { spooled, damaged } = decodeFrames(bytes, 0);
  return { spooled, damaged: damaged + (bytes.byteLength > LEDGER_SPOOL_BYTES_MAX ? 1 : 0) };
}

async function recordDamage({ store, spools }: SpoolPlaces, found: SpoolRecovery, by: Recoverer): Promise<string> {
  const { instanceId, recovered, damaged } = found;
  const payload = { instance_id: instanceId, recovered, damaged, severity: "critical" };
  const entry = pendingEntry({ type: "spool_damaged", ...BY_KERNEL, timeMs: by.nowMs, payload }, "durable");
  const mark = { instanceId, through: COMPLETE };
  const stands = (): boolean => spools.exists(instanceId);
  await appendSpooled(
    store,
    { events: [{ entry, counter: COMPLETE }], mark, recordedBy: by.instanceId, stands },
    by.random,
  );
  return spools.setAside(instanceId);
}
