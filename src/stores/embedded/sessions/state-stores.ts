/**
 * Opens the stores of `state.db`: sessions and leases, marks, armings, freezes, and branches.
 *
 * They share one connection and one check of its freshness.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { KernelError, storeCorrupt } from "../../../base/errors.ts";
import type { FreezeStore } from "../../../flow/freeze-store.ts";
import type { MarkStore } from "../../../flow/mark-store.ts";
import type { BranchStore } from "../../../sandbox/ports/branch-store.ts";
import type { ArmingStore } from "../../../session/arming-store.ts";
import type { SessionStore } from "../../../session/session-store.ts";
import { openDatabase, openDatabaseReadOnly } from "../state/database.ts";
import { STATE_SCHEMA } from "../state/schema.ts";
import { StateFreshness } from "../state/state-cache.ts";
import { prepareStateDirectory } from "../state/state-directory.ts";
import { EmbeddedArmingStore } from "./arming-store.ts";
import { EmbeddedBranchStore } from "./branch-store.ts";
import { EmbeddedFreezeStore } from "./freeze-store.ts";
import { EmbeddedMarkStore } from "./mark-store.ts";
import { EmbeddedSessionStore } from "./session-store.ts";

/** What `state.db` keeps. Closing the sessions closes it. */
export interface StateStores {
  readonly sessions: SessionStore;
  readonly marks: MarkStore;
  readonly armings: ArmingStore;
  readonly freezes: FreezeStore;
  readonly branches: BranchStore;
}

const FILE = "state.db";

/**
 * Whether `state.db` was there and is gone, with its sessions and freezes: every kernel opens it before it records
 * anything, and the ledger's anchor says that one did.
 */
export function isStateLost(stateDirectory: string): boolean {
  const [state, anchor] = [FILE, "anchor"].map((name) =>
    statSync(join(stateDirectory, name), { throwIfNoEntry: false }),
  );
  return anchor !== undefined && (state === undefined || state.size === 0);
}

/**
 * Opens `state.db` of a state directory.
 * @param acceptsLoss makes it anew where it is gone; otherwise that is refused, because a freeze must not end so
 */
export async function openStateStores(stateDirectory: string, acceptsLoss = false): Promise<StateStores> {
  await prepareStateDirectory(stateDirectory);
  const path = join(stateDirectory, FILE);
  if (!acceptsLoss && isStateLost(stateDirectory)) throw lost();
  const database = await openDatabase(path, STATE_SCHEMA, "STORE_UNAVAILABLE");
  const opened = { database, path };
  const freshness = new StateFreshness(database);
  return {
    sessions: new EmbeddedSessionStore(opened, freshness),
    marks: new EmbeddedMarkStore(opened, freshness),
    armings: new EmbeddedArmingStore(opened, freshness),
    freezes: new EmbeddedFreezeStore(opened, freshness),
    branches: new EmbeddedBranchStore(opened, freshness),
  };
}

/**
 * Whether sessions were made in a state directory: a ledger was there then. Asked before anything of it is opened. A
 * file that cannot be read says nothing here, and is refused by whoever opens it.
 */
export function holdsSessions(stateDirectory: string): boolean {
  const path = join(stateDirectory, FILE);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false;
  try {
    const database = openDatabaseReadOnly(path, STATE_SCHEMA, "STORE_UNAVAILABLE");
    try {
      return database.prepare("SELECT 1 FROM sessions LIMIT 1").get() !== undefined;
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof KernelError || error instanceof Sqlite.SqliteError) return false;
    throw error;
  }
}

function lost(): KernelError {
  const what = "`state.db` was removed from the state directory, and its sessions and freezes with it";
  const advice = "restore it from a backup, or accept the loss with `handrail ledger accept --reason <why>`";
  return storeCorrupt(`${what}; ${advice}`);
}
