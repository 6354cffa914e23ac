/** Reads the ledger of a place as tests need it: every record with its payload decoded. */
import type { JsonObject } from "../../src/base/json.ts";
import type { LedgerEntry } from "../../src/ledger/entry.ts";
import { openLedgerReader } from "../../src/server/ledger/ledger-reader.ts";

/** A record with its payload. */
export interface Evidence {
  readonly entry: LedgerEntry;
  readonly payload: JsonObject;
}

const PAGE = 256;

/** All records of a state directory, oldest first; fails when the chain is not intact. */
export async function readEvidence(state: string): Promise<readonly Evidence[]> {
  const reader = await openLedgerReader(state);
  try {
    const report = await reader.verify();
    if (!report.ok) throw new Error(`the ledger is damaged: ${JSON.stringify(report.problems)}`);
    const records: Evidence[] = [];
    for (let from = 1; from <= report.entries; from += PAGE) {
      for (const { entry, payload } of await reader.range(from, PAGE)) {
        records.push({ entry, payload: JSON.parse(Buffer.from(payload ?? []).toString("utf8")) as JsonObject });
      }
    }
    return records;
  } finally {
    await reader.close();
  }
}
