/** Wraps a ledger so that observers hear of each event that is handed to it, and how long that took. */
import type { Durability, LedgerEvent } from "../../model/outcome/event.ts";
import type { LedgerThread } from "../ledger/ledger-messages.ts";
import type { Observers } from "./observers.ts";

/** `ledger`, observed. */
export function observedLedger(ledger: LedgerThread, observers: Observers): LedgerThread {
  function record(event: LedgerEvent, durability: "durable"): Promise<number>;
  function record(event: LedgerEvent, durability: Durability): Promise<number | undefined>;
  function record(event: LedgerEvent, durability: Durability): Promise<number | undefined> {
    const recording = ledger.record(event, durability);
    if (observers.hearsEvents) void watch(recording, { event, durability });
    return recording;
  }

  async function watch(
    recording: Promise<number | undefined>,
    told: { readonly event: LedgerEvent; readonly durability: Durability },
  ): Promise<void> {
    const beganMs = performance.now();
    try {
      const sequence = await recording;
      const tookMs = performance.now() - beganMs;
      observers.recorded({ ...told, tookMs, isRecorded: true, ...(sequence !== undefined && { sequence }) });
    } catch {
      // whoever recorded it is told why
      observers.recorded({ ...told, tookMs: performance.now() - beganMs, isRecorded: false });
    }
  }

  return {
    record,
    ready: () => ledger.ready(),
    health: () => ledger.health(),
    spoolBytes: () => ledger.spoolBytes(),
    isAnew: () => ledger.isAnew(),
    rest: () => ledger.rest(),
    close: () => ledger.close(),
    openIntents: () => ledger.openIntents(),
    spooledInstances: () => ledger.spooledInstances(),
    recoverSpool: (...spool) => ledger.recoverSpool(...spool),
  };
}
