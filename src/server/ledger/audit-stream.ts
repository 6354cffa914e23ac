/**
 * Reads the security audit from a ledger, and follows it as the ledger grows.
 *
 * Reads beside the kernels that write, and writes nothing. Memory is bounded by a page of the ledger, whatever its
 * size. Following waits for the system to tell of changes, and looks by itself now and then, because not every file
 * system tells.
 */
import { type FSWatcher, watch } from "node:fs";
import { errorCode, storeUnavailable } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import { ocsfOf } from "../../ledger/audit/ocsf.ts";
import { isAtLeast, type SecurityEvent, type Severity, securityEventOf } from "../../ledger/audit/security-event.ts";
import { handrailVersion } from "../operator/package-files.ts";
import type { LedgerReader, LedgerRecord } from "./ledger-reader.ts";
import { LEDGER_SYNC_MS } from "./limits.ts";

/**
 * Milliseconds between two looks at a ledger that is followed, besides those that its changes cause: some file systems
 * tell of none.
 */
const AUDIT_LOOK_MS = 2_000;

export type { SecurityEvent, Severity } from "../../ledger/audit/security-event.ts";

/** Which events to show. */
export interface AuditQuery {
  /** At least so severe. */
  readonly severity: Severity;
  /** Milliseconds since the Unix epoch; then everything from there on. */
  readonly sinceMs?: number;
  /** Without `sinceMs`: the last so many. */
  readonly count: number;
}

/** Entries of several kernels, and those that were spooled, may stand a little out of the order of their times. */
const DISORDER_MS = 60_000 + LEDGER_SYNC_MS;

interface Following {
  readonly stateDirectory: string;
  readonly signal: AbortSignal;
}

/** What shapes events as OCSF, as this version of Handrail says them. */
export function ocsfEvents(): (event: SecurityEvent) => JsonObject {
  const version = handrailVersion();
  return (event) => ocsfOf(event, { version });
}

/** The events that `query` asks for, oldest first; with `follow`, then those that come, until its signal aborts. */
export async function* securityAudit(
  reader: LedgerReader,
  query: AuditQuery,
  follow?: Following,
): AsyncGenerator<SecurityEvent> {
  const { sequence: head } = await reader.head();
  const from = await firstWanted(reader, query, head);
  for await (const record of records(reader, from, head)) {
    const event = wanted(record, query);
    if (event) yield event;
  }
  if (follow === undefined) return;
  for await (const record of followed(reader, head + 1, follow)) {
    const event = wanted(record, query);
    if (event) yield event;
  }
}

/** Pages of the ledger backwards from `head`, each in ascending order. */
export async function* pagesBackwards(reader: LedgerReader, head: number): AsyncGenerator<readonly LedgerRecord[]> {
  for (let last = head; last >= 1; last -= LEDGER_READ_ROWS_MAX) {
    const from = Math.max(1, last - LEDGER_READ_ROWS_MAX + 1);
    yield await reader.range(from, last - from + 1);
  }
}

function wanted(record: LedgerRecord, { severity, sinceMs = 0 }: AuditQuery): SecurityEvent | undefined {
  const event = securityEventOf(record);
  return event && isAtLeast(event.severity, severity) && record.entry.timeMicros / 1000 >= sinceMs ? event : undefined;
}

/** The sequence from which reading finds all that is asked for; nothing beyond `head` is. */
async function firstWanted(reader: LedgerReader, query: AuditQuery, head: number): Promise<number> {
  let first = head + 1;
  let found = 0;
  for await (const page of pagesBackwards(reader, head)) {
    for (const record of [...page].reverse()) {
      if (query.sinceMs === undefined && found >= query.count) return first;
      if (wanted(record, query) === undefined) continue;
      first = record.entry.sequence;
      found += 1;
    }
    if (query.sinceMs !== undefined && isBefore(page, query.sinceMs - DISORDER_MS)) return first;
  }
  return first;
}

function isBefore(page: readonly LedgerRecord[], timeMs: number): boolean {
  return page.every(({ entry }) => entry.timeMicros / 1000 < timeMs);
}

async function* records(reader: LedgerReader, from: number, through: number): AsyncGenerator<LedgerRecord> {
  for (let next = from; next <= through; next += LEDGER_READ_ROWS_MAX) {
    yield* await reader.range(next, Math.min(LEDGER_READ_ROWS_MAX, through - next + 1));
  }
}

async function* followed(
  reader: LedgerReader,
  from: number,
  { stateDirectory, signal }: Following,
): AsyncGenerator<LedgerRecord> {
  const changes = watchLedger(stateDirectory);
  try {
    let next = from;
    while (!signal.aborted) {
      const changed = changes.next(signal);
      const { sequence: head } = await reader.head();
      for await (const record of records(reader, next, head)) {
        if (signal.aborted) return;
        yield record;
      }
      next = Math.max(next, head + 1);
      await changed;
    }
  } finally {
    changes.close();
  }
}

interface Changes {
  /** Resolves with the next change from now on, after a while without one, or when the signal aborts. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

function watchLedger(stateDirectory: string): Changes {
  let watcher: FSWatcher | undefined;
  let wake: () => void = () => undefined;
  try {
    watcher = watch(stateDirectory, (_event, name) => {
      if (name === null || name.toString().startsWith("ledger.db")) wake();
    });
    // A watch that breaks costs promptness alone: the look now and then goes on.
    watcher.on("error", () => watcher?.close());
  } catch (cause) {
    // where other programs of the user have all watchers, the look now and then is left
    if (!["EMFILE", "ENOSPC"].includes(errorCode(cause)))
      throw storeUnavailable(`\`${stateDirectory}\` cannot be watched`, cause);
  }
  return {
    next: (signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => done(), AUDIT_LOOK_MS);
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        wake = done;
        signal.addEventListener("abort", done, { once: true });
        if (signal.aborted) done();
      }),
    close: () => watcher?.close(),
  };
}
