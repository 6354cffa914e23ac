/**
 * Settles the budget reservations of kernels that are gone.
 *
 * Nobody knows how much of them was spent, so all of it counts as spent. `isAlive` is trusted that an instance which is
 * gone never comes back.
 *
 * INVARIANT: each reservation is settled once, however many kernels start at the same time, because one of them adopts
 * it. A kernel that dies meanwhile leaves it to the next.
 */

import type { EventSink } from "../model/outcome/event.ts";
import { BUDGET_MEMBERS } from "../model/spending/budget.ts";
import type { BudgetStore, Orphan } from "./budget-store.ts";

/** Reservations of one dead kernel that are settled in one transaction. */
const ORPHANED_RESERVATIONS_MAX = 1024;
/** Dead kernels whose reservations one start settles; the next start takes the rest. */
const ORPHANED_SPENDERS_MAX = 1024;

/** Who settles, and who is asked whether an instance lives. */
export interface OrphanParts {
  readonly store: BudgetStore;
  readonly instanceId: string;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
  readonly ledger: EventSink;
  readonly nowMs: number;
}

/**
 * Counts as spent what dead kernels had reserved, and records it: first the record, then the amount, so that nothing is
 * taken without one.
 * @returns how many reservations were settled
 * @throws KernelError STORE_UNAVAILABLE, STORE_CORRUPT or LEDGER_UNAVAILABLE; the rest stays reserved
 */
export async function settleOrphans(parts: OrphanParts): Promise<number> {
  const { store, instanceId, isAlive } = parts;
  let settled = 0;
  for (const holder of await store.holders(ORPHANED_SPENDERS_MAX)) {
    if (holder === instanceId || (await isAlive(holder))) continue;
    const orphans = await store.adopt(holder, instanceId, ORPHANED_RESERVATIONS_MAX);
    for (const orphan of orphans) {
      await record(parts, orphan, holder);
      await store.settle(orphan.id, instanceId, orphan.amounts);
      settled += 1;
    }
  }
  return settled;
}

async function record({ ledger, nowMs }: OrphanParts, orphan: Orphan, holder: string): Promise<void> {
  const { sessionId, actor, requestId, accounts, amounts, atMs } = orphan;
  const spent = Object.fromEntries(
    BUDGET_MEMBERS.filter((member) => amounts[member] > 0).map((member) => [member, amounts[member]]),
  );
  const payload = {
    instanceId: holder,
    reason: "instance_gone",
    accounts,
    consumed: spent,
    reservedAt: new Date(atMs).toISOString(),
  };
  await ledger.record({ type: "budget_settled", sessionId, actor, requestId, timeMs: nowMs, payload }, "durable");
}
