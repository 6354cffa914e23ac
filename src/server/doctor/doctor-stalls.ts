/**
 * The finding of `handrail doctor` about times that a kernel's thread stood, from what kernels have recorded lately.
 */
import { textOf } from "../../base/bytes.ts";
import { isJsonObject } from "../../base/json.ts";
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import { type LedgerRecord, withLedgerReader } from "../ledger/ledger-reader.ts";
import { attempt, type Finding } from "./finding.ts";

const CHECK = "kernel's thread";
/** Entries of the ledger that are looked through, from its end. */
const ENTRIES_MAX = 16 * LEDGER_READ_ROWS_MAX;

/** Looks through the last entries of the ledger of `stateDirectory`; does not throw. */
export function stallFinding(stateDirectory: string): Promise<Finding> {
  return attempt(CHECK, "run `handrail ledger verify`", async () => {
    const stalls = await recordedStalls(stateDirectory);
    const longest = stalls.toSorted((left, right) => right.ms - left.ms)[0];
    if (longest === undefined) return `never stood in the last ${ENTRIES_MAX} entries of the ledger`;
    const detail =
      `stood ${stalls.length} times for more than a second in the last ${ENTRIES_MAX} entries of the ledger, ` +
      `for ${(longest.ms / 1000).toFixed(1)} s at most (${longest.doing})`;
    return { status: "advisory", detail, fix: "`handrail audit tail` shows them as `kernel_stalled`" };
  });
}

function recordedStalls(stateDirectory: string): Promise<readonly { readonly ms: number; readonly doing: string }[]> {
  return withLedgerReader(stateDirectory, async (reader) => {
    const { sequence } = await reader.head();
    const stalls: ReturnType<typeof stallOf>[] = [];
    for (let from = Math.max(1, sequence - ENTRIES_MAX + 1); from <= sequence; from += LEDGER_READ_ROWS_MAX)
      for (const record of await reader.range(from, LEDGER_READ_ROWS_MAX))
        if (record.entry.eventType === "kernel_stalled") stalls.push(stallOf(record));
    return stalls;
  });
}

/** A payload may have been pruned. */
function stallOf({ payload }: LedgerRecord): { readonly ms: number; readonly doing: string } {
  const facts: unknown = JSON.parse((payload && textOf(payload)) ?? "null");
  const { stalledMs, doing } = isJsonObject(facts) ? facts : {};
  return {
    ms: typeof stalledMs === "number" ? stalledMs : 0,
    doing: typeof doing === "string" ? doing : "something without a name",
  };
}
