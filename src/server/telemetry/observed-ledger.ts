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
    if (observers.hearsEvents) watch(recording, event, durability);
    return recording;
  }

  function watch(recording: Promise<number | undefined>, event: LedgerEvent, durability: Durability): void {
    const beganMs = performance.now();
    const told = (isRecorded: boolean, sequence: number | undefined) => {
      const tookMs = performance.now() - beganMs;
      observers.recorded({ event, durability, tookMs, isRecorded, sequence });
    };
    // whoever recorded it is told why it failed
    recording.then(
      (sequence) => told(true, sequence),
      () => told(false, undefined),
    );
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
