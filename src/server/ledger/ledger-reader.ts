/**
 * Reads a ledger beside the kernels that write it: for the command line and the console.
 *
 * Opens the database read-only; refuses a state directory of another user, whose kernels a file made here would lock
 * out.
 */

import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import type { AnchorStore } from "../../ledger/anchor-store.ts";
import { type LedgerRecord, ledgerRecord } from "../../ledger/ledger.ts";
import type { Head, LedgerStore } from "../../ledger/ledger-store.ts";
import { type VerifyProgress, type VerifyReport, type VerifySource, verifyLedger } from "../../ledger/verify.ts";
import { openAnchorStore } from "../../stores/embedded/ledger/anchor-store.ts";
import { openLedgerStoreReadOnly } from "../../stores/embedded/ledger/ledger-store.ts";
import { isEvidenceKeyLost } from "./evidence-key.ts";

export type { LedgerRecord } from "../../ledger/ledger.ts";

/** A ledger that is read. Failures are `KernelError`s: `STORE_CORRUPT`, `STORE_UNAVAILABLE` or `LEDGER_UNAVAILABLE`. */
export interface LedgerReader {
  readonly head: () => Promise<Head>;
  /** The last `count` records, oldest first; at most 256. */
  readonly tail: (count: number) => Promise<readonly LedgerRecord[]>;
  /** At most `count` records from a sequence on; at most 256. */
  readonly range: (from: number, count: number) => Promise<readonly LedgerRecord[]>;
  /** One record, or `undefined` when there is none. */
  readonly show: (sequence: number) => Promise<LedgerRecord | undefined>;
  /** Recomputes the whole ledger. Problems are in the report, never thrown. */
  readonly verify: (onProgress?: (progress: VerifyProgress) => void) => Promise<VerifyReport>;
  readonly close: () => Promise<void>;
}

/** Opens the ledger of a state directory for reading. */
export async function openLedgerReader(stateDirectory: string): Promise<LedgerReader> {
  const store = await openLedgerStoreReadOnly(stateDirectory);
  const anchors = openAnchorStore(stateDirectory);
  const range = async (from: number, count: number): Promise<readonly LedgerRecord[]> =>
    (await store.read(from, count)).map(ledgerRecord);
  return {
    head: () => store.head(),
    tail: async (count) => {
      const bounded = Math.min(count, LEDGER_READ_ROWS_MAX);
      return range((await store.head()).sequence - bounded + 1, bounded);
    },
    range,
    show: async (sequence) => {
      const [row] = await store.read(sequence, 1);
      return row?.sequence === sequence ? ledgerRecord(row) : undefined;
    },
    verify: async (onProgress) => withLost(await verifyLedger(anchored(store, anchors), onProgress), stateDirectory),
    close: () => store.close(),
  };
}

/** The report, and what is gone that the ledger rests on. */
/** Reads the ledger of a state directory as long as `work` takes. */
export async function withLedgerReader<T>(
  stateDirectory: string,
  work: (reader: LedgerReader) => Promise<T>,
): Promise<T> {
  const reader = await openLedgerReader(stateDirectory);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

function withLost(report: VerifyReport, stateDirectory: string): VerifyReport {
  if (!isEvidenceKeyLost(stateDirectory)) return report;
  const problem = "`evidence.key` was removed from the state directory";
  return { ...report, ok: false, problems: [{ sequence: 0, problem }, ...report.problems] };
}

/** The methods of a store look at the store itself. */
function anchored(store: LedgerStore, anchors: AnchorStore): VerifySource {
  return {
    head: () => store.head(),
    read: (from, limit) => store.read(from, limit),
    openIntents: (limit) => store.openIntents(limit),
    integrity: () => store.integrity(),
    strayPayloads: (limit) => store.strayPayloads(limit),
    anchored: () => store.anchored(),
    anchor: anchors.read,
  };
}
