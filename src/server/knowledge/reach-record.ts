/**
 * Records as evidence the requests that the kernel itself makes for indexes.
 *
 * An index makes thousands of them. INVARIANT: each is counted in an event; the first of its kind is recorded at once,
 * those after it together, at most once a minute and when the kernel ends.
 */

import { BY_KERNEL } from "../../ledger/actors.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { EgressAttempt } from "../../sandbox/net/gate/attempt.ts";

/** Milliseconds between two events of one kind. */
const EVERY_MS = 60_000;
/** Kinds that are told apart: servers and reasons are few. */
const KINDS_MAX = 64;

/** What the record is kept with. */
export interface ReachRecordParts {
  readonly ledger: EventSink;
  readonly nowMs: () => number;
  readonly onInternalError: (error: unknown) => void;
}

interface Counted {
  readonly attempt: EgressAttempt;
  requests: number;
  bytesOut: number;
  bytesIn: number;
  durationMs: number;
  recordedMs: number;
}

/** The record of one kernel. */
export class ReachRecord {
  readonly #parts: ReachRecordParts;
  readonly #kinds = new Map<string, Counted>();

  constructor(parts: ReachRecordParts) {
    this.#parts = parts;
  }

  /** Takes one request that has ended. */
  readonly take = (attempt: EgressAttempt): void => {
    const { host, port, outcome, reason = "", address = "" } = attempt;
    const key = JSON.stringify([host, port, outcome, reason, address]);
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      if (this.#kinds.size >= KINDS_MAX) void this.close(); // records them all, and begins again
      kind = { attempt, requests: 0, bytesOut: 0, bytesIn: 0, durationMs: 0, recordedMs: Number.NEGATIVE_INFINITY };
      this.#kinds.set(key, kind);
    }
    kind.requests += 1;
    kind.bytesOut += attempt.bytesOut;
    kind.bytesIn += attempt.bytesIn;
    kind.durationMs += attempt.durationMs;
    if (this.#parts.nowMs() - kind.recordedMs >= EVERY_MS) void this.#record(kind);
  };

  /** Records what was not recorded yet. */
  async close(): Promise<void> {
    const left = [...this.#kinds.values()];
    this.#kinds.clear();
    for (const kind of left) await this.#record(kind);
  }

  async #record(kind: Counted): Promise<void> {
    const { attempt, requests, bytesOut, bytesIn, durationMs } = kind;
    if (requests === 0) return;
    const { host, port, via, outcome, reason, address } = attempt;
    const timeMs = this.#parts.nowMs();
    Object.assign(kind, { requests: 0, bytesOut: 0, bytesIn: 0, durationMs: 0, recordedMs: timeMs });
    const payload = {
      purpose: "knowledge",
      host,
      port,
      via,
      outcome,
      ...(reason !== undefined && { reason }),
      ...(address !== undefined && { address }),
      requests,
      bytesOut,
      bytesIn,
      executionTime: Math.round(durationMs * 1000) / 1000,
    };
    const isRefused = outcome === "refused";
    const type = isRefused ? "network_blocked" : "network_reached";
    const severity = isRefused ? { severity: "warning" } : {};
    const event = { type, ...BY_KERNEL, timeMs, payload: { ...payload, ...severity } } as const;
    await this.#parts.ledger.record(event, isRefused ? "durable" : "buffered").catch(this.#parts.onInternalError);
  }
}
