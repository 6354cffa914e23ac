/**
 * Says in the ledger what became of people's acts on branches whose kernel was killed meanwhile.
 *
 * INVARIANT: it is looked at once landings have been taken back and branches put in order, so that a branch that is
 * gone was merged or dropped as a whole.
 */
import { BY_KERNEL } from "../../ledger/actors.ts";
import type { InstanceStore } from "../../ledger/instance-store.ts";
import { IntentNotOpenError, type OpenIntentSource } from "../../ledger/orphans.ts";
import type { EventSink } from "../../model/outcome/event.ts";
import type { Branches } from "../../sandbox/branches/branches.ts";

/** Where it is looked. */
export interface ActSources {
  readonly instances: Pick<InstanceStore, "isAlive">;
  readonly branches: Pick<Branches, "find">;
  readonly nowMs: number;
}

/** Closes the intents of dead kernels, each once; of a merge whose branch stays it is not known whether it landed. */
export async function closeBranchActs(
  ledger: OpenIntentSource & EventSink,
  { instances, branches, nowMs }: ActSources,
): Promise<void> {
  for (const { sequence, instanceId, branchAct } of await ledger.openIntents()) {
    if (branchAct === undefined || (await instances.isAlive(instanceId))) continue;
    const { branchId, act } = branchAct;
    const isThere = typeof branchId === "string" && (await branches.find(branchId)) !== undefined;
    const isDone = isThere ? (act === "drop" ? false : undefined) : true;
    const payload = { ...branchAct, ...(isDone !== undefined && { isDone }), reason: "instance_gone" };
    try {
      await ledger.record(
        { type: "branch_act_ended", ...BY_KERNEL, timeMs: nowMs, payload, closes: sequence },
        "durable",
      );
    } catch (error) {
      if (!(error instanceof IntentNotOpenError)) throw error; // another kernel has closed it
    }
  }
}
