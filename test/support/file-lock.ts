/** Holds the lock of a workspace file as another kernel would, so that an edit of it waits with its intent recorded. */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { blake3Hex } from "../../src/base/hash.ts";
import { openLockStore } from "../../src/stores/embedded/lock-store.ts";
import type { Place } from "./place.ts";

/** Takes the lock of `path` in the place's workspace until the test ends, or until what is returned gives it back. */
export async function lockOf(place: Place, path: string): Promise<() => Promise<void>> {
  const file = join(place.workspace, path);
  const { dev, ino } = statSync(dirname(file));
  const locks = await openLockStore(place.state);
  onTestFinished(() => locks.close());
  const key = `file:${dev}:${ino}/${blake3Hex(basename(file))}`;
  expect(await locks.acquire({ key, owner: "test", staleAfterMs: 60_000, nowMs: Date.now() })).toEqual({
    kind: "acquired",
  });
  return async () => void expect(await locks.release({ key, owner: "test" })).toBe(true);
}
