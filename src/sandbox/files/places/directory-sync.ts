/**
 * Brings the names in a directory to disk, once for all calls that changed it before the sync began.
 *
 * INVARIANT: a caller keeps its descriptor open until its promise has settled, and a sync runs on the descriptor of a
 * caller that waits for it.
 */
import { fstatSync, fsync as fsyncWithCallback } from "node:fs";
import { promisify } from "node:util";
import { Coalesced } from "../../../base/coalesced.ts";

const fsyncAsync = promisify(fsyncWithCallback);

/** The syncs of one directory, and the descriptor of whoever asked last. */
interface Syncs {
  descriptor: number;
  readonly shared: Coalesced;
}

/** By device and inode, as long as somebody waits. */
const running = new Map<string, Syncs>();

/** Resolves once every change of the open directory that was made before the call is on disk. */
export async function syncDirectory(descriptor: number): Promise<void> {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  const key = `${dev}:${ino}`;
  const syncs = running.get(key) ?? syncsOn(descriptor);
  running.set(key, syncs);
  syncs.descriptor = descriptor;
  try {
    await syncs.shared.run();
  } finally {
    if (syncs.shared.idle) running.delete(key);
  }
}

function syncsOn(descriptor: number): Syncs {
  const syncs: Syncs = { descriptor, shared: new Coalesced(() => fsyncAsync(syncs.descriptor)) };
  return syncs;
}
