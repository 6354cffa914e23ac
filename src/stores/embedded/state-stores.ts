/** The stores of `state.db`: sessions and leases, marks, armings, and freezes, on one connection and with one question about its freshness. */
import { join } from "node:path";
import type { FreezeStore } from "../../flow/freeze-store.ts";
import type { MarkStore } from "../../flow/mark-store.ts";
import type { ArmingStore } from "../../session/arming-store.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { EmbeddedArmingStore } from "./arming-store.ts";
import { openDatabase } from "./database.ts";
import { EmbeddedFreezeStore } from "./freeze-store.ts";
import { EmbeddedMarkStore } from "./mark-store.ts";
import { STATE_SCHEMA } from "./schema.ts";
import { EmbeddedSessionStore } from "./session-store.ts";
import { StateFreshness } from "./state-cache.ts";
import { prepareStateDirectory } from "./state-directory.ts";

/** What `state.db` keeps. Closing the sessions closes it. */
export interface StateStores {
  readonly sessions: SessionStore;
  readonly marks: MarkStore;
  readonly armings: ArmingStore;
  readonly freezes: FreezeStore;
}

/** Opens `state.db` of a state directory. */
export async function openStateStores(stateDirectory: string): Promise<StateStores> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, "state.db");
  const database = await openDatabase(path, STATE_SCHEMA, "STORE_UNAVAILABLE");
  const freshness = new StateFreshness(database);
  return {
    sessions: new EmbeddedSessionStore(database, path, freshness),
    marks: new EmbeddedMarkStore(database, path, freshness),
    armings: new EmbeddedArmingStore(database, path, freshness),
    freezes: new EmbeddedFreezeStore(database, path, freshness),
  };
}
