/**
 * Reads from a ledger what people were asked, what they answered, and what was asked in full.
 *
 * The ledger says that something was asked, and names the request by the digest of its document; the documents lie
 * beside it as long as requests are kept. INVARIANT: a document counts only where it is what the ledger names.
 */
import { textOf } from "../../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { readApprovalDocument, type ShownRequest } from "../../../model/approval/approval-document.ts";
import { openApprovalStore } from "../../../stores/embedded/approvals/approval-store.ts";
import { pagesBackwards } from "../../ledger/audit-stream.ts";
import type { LedgerReader, LedgerRecord } from "../../ledger/ledger-reader.ts";

/** Requests that are learned from at most, the newest; more than a person could have answered. */
const REQUESTS_MAX = 20_000;
/** Entries that are looked through, newest first. */
const ENTRIES_MAX = 1_000_000;

/** What people were asked. */
export interface AskedRequest {
  readonly ref: string;
  /** The entry of the ledger that names it. */
  readonly sequence: number;
  readonly answer: "approved" | "refused" | "none";
  /** Absent where it is kept no longer, or is not what the ledger names. */
  readonly request?: ShownRequest;
}

/** What calls used that ran: for the smallest lease. */
export interface UsedAccess {
  readonly tool: string;
  readonly accesses: readonly JsonObject[];
  /** Paths that commands of the call changed. */
  readonly effects: readonly string[];
}

/** What is learned from. */
export interface Recording {
  readonly calls: number;
  /** The oldest first. */
  readonly asked: readonly AskedRequest[];
  readonly used: readonly UsedAccess[];
}

/** Reads the recording since then. @param sinceMs milliseconds since the Unix epoch; all of it when absent */
export async function readRecording(
  reader: LedgerReader,
  {
    stateDirectory,
    sinceMs,
    nowMs,
  }: { readonly stateDirectory: string; readonly sinceMs?: number; readonly nowMs: number },
): Promise<Recording> {
  const tally = new Tally();
  const { sequence } = await reader.head();
  await tally.takeAll(reader, sequence, sinceMs);
  const store = openApprovalStore(stateDirectory);
  try {
    const asked: AskedRequest[] = [];
    for (const { ref, sequence: at } of tally.requests.reverse()) {
      const stored = await store.find(ref, nowMs);
      const request = stored && readApprovalDocument(ref, stored.document);
      asked.push({ ref, sequence: at, answer: tally.answers.get(ref) ?? "none", ...(request && { request }) });
    }
    return { calls: tally.calls, asked, used: tally.used };
  } finally {
    await store.close();
  }
}

/** What was read so far, newest first: the last answer to a request comes first, and is the one that stands. */
class Tally {
  calls = 0;
  readonly requests: { readonly ref: string; readonly sequence: number }[] = [];
  readonly answers = new Map<string, "approved" | "refused">();
  readonly used: UsedAccess[] = [];

  async takeAll(reader: LedgerReader, head: number, sinceMs = 0): Promise<void> {
    let left = ENTRIES_MAX;
    for await (const page of pagesBackwards(reader, head))
      for (const record of [...page].reverse()) {
        if (left === 0 || record.entry.timeMicros / 1000 < sinceMs) return;
        left -= 1;
        this.#take(record);
      }
  }

  #take(record: LedgerRecord): void {
    const { eventType, sequence } = record.entry;
    if (eventType === "approval_requested") {
      const ref = String(factsOf(record)["approvalRef"] ?? "");
      if (this.requests.length < REQUESTS_MAX) this.requests.push({ ref, sequence });
    } else if (eventType === "tool_approval_decided") {
      const { approvalRef, holds, approved } = factsOf(record);
      const ref = String(approvalRef ?? "");
      if (holds === true && !this.answers.has(ref)) this.answers.set(ref, approved === true ? "approved" : "refused");
    } else if (eventType === "tool_executed") this.#used(factsOf(record));
    else if (eventType === "tool_execution_denied" || eventType === "tool_outcome_unknown") this.calls += 1;
  }

  #used({ tool, accesses, commands }: JsonObject): void {
    this.calls += 1;
    this.used.push({
      tool: String(tool ?? ""),
      accesses: objectsIn(accesses),
      effects: objectsIn(commands)
        .flatMap(({ effects }) => objectsIn(effects))
        .flatMap(({ path }) => (typeof path === "string" ? [path] : [])),
    });
  }
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function factsOf({ payload }: LedgerRecord): JsonObject {
  const read: unknown = payload === undefined ? undefined : JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(read) ? read : {};
}
