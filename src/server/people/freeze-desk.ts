/**
 * Opens the operator's desk for stopping and reviewing agents.
 *
 * It opens the stores that it needs and no kernel, so that it works when the configuration is broken and no policy
 * loads.
 */
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/ids.ts";
import type { MarkStore } from "../../flow/mark-store.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { openBell } from "../../stores/embedded/approvals/bell.ts";
import { openInstanceStore } from "../../stores/embedded/ledger/instance-store.ts";
import { holdsSessions, openStateStores } from "../../stores/embedded/sessions/state-stores.ts";
import { openViolationStore } from "../../stores/embedded/sessions/violation-store.ts";
import { prepareStateDirectory } from "../../stores/embedded/state/state-directory.ts";
import { ledgerOf } from "../ledger/ledger-messages.ts";
import { startLedgerThread } from "../ledger/ledger-thread.ts";
import { FreezeAdministration } from "./freeze-administration.ts";

export type { Freeze, FreezeTarget } from "../../flow/freeze-store.ts";

/** An open desk. */
export interface FreezeDesk {
  readonly freezes: FreezeAdministration;
  readonly sessions: Pick<SessionStore, "findSession" | "listSessions">;
  readonly marks: Pick<MarkStore, "findMark">;
  readonly close: () => Promise<void>;
}

/** Opens the desk of a state directory. */
export async function openFreezeDesk(stateDirectory: string): Promise<FreezeDesk> {
  await prepareStateDirectory(stateDirectory);
  const { sessions, marks, freezes } = await openStateStores(stateDirectory);
  const instances = await openInstanceStore(stateDirectory, systemRandom);
  const instance = await instances.claim();
  const ledger = startLedgerThread(ledgerOf(stateDirectory, instance, holdsSessions(stateDirectory)), { spool: false });
  const violations = openViolationStore(stateDirectory);
  const bell = await openBell(stateDirectory, () => undefined); // the desk rings and listens to nothing
  return {
    freezes: new FreezeAdministration({ freezes, violations, sessions, bell, ledger, clock: systemClock }),
    sessions,
    marks,
    async close() {
      await ledger.close().finally(() => instance.release());
      for (const store of [bell, violations, sessions]) await store.close();
    },
  };
}
