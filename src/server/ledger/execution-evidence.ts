/**
 * Looks up in the ledger whether a call of a dead kernel was executed.
 *
 * The evidence is the entry that closed the call's intent.
 */

import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import type { BegunCall, ExecutionEvidence } from "../../dedupe/dedupe.ts";
import type { LedgerRecord } from "../../ledger/ledger.ts";
import { withLedgerReader } from "./ledger-reader.ts";

/** Entries after an intent that are searched for its outcome: a tool that ran beside more of them counts as unknown. */
const ENTRIES_SEARCHED_MAX = 100_000;

/** The evidence of a state directory. */
export function executionEvidence(stateDirectory: string): ExecutionEvidence {
  return {
    executedAt: (call) =>
      withLedgerReader(stateDirectory, async (reader) => {
        const intent = await reader.show(call.intent);
        return intent && isOf(call, intent) ? await outcomeAfter(call.intent, reader.range) : undefined;
      }),
  };
}

function isOf({ sessionId, instanceId }: BegunCall, { entry }: LedgerRecord): boolean {
  return entry.intent && entry.sessionId === sessionId && entry.instanceId === instanceId;
}

async function outcomeAfter(
  intent: number,
  range: (from: number, count: number) => Promise<readonly LedgerRecord[]>,
): Promise<number | undefined> {
  for (let from = intent + 1; from <= intent + ENTRIES_SEARCHED_MAX; from += LEDGER_READ_ROWS_MAX) {
    const records = await range(from, LEDGER_READ_ROWS_MAX);
    const closing = records.find(({ entry }) => entry.closes === intent)?.entry;
    if (closing !== undefined) return closing.eventType === "tool_executed" ? closing.sequence : undefined;
    if (records.length < LEDGER_READ_ROWS_MAX) return undefined;
  }
  return undefined;
}
