/**
 * Holds the locks of several files at once, the same that file tools take.
 *
 * INVARIANT: locks are taken in the order of paths, so that two of them that hold several never wait for each other.
 */
import { closeSync, constants } from "node:fs";
import { usageError } from "../../base/errors.ts";
import { type HeldLock, type LockScope, withFileLock } from "../files/lock.ts";
import { lockKeyOf } from "../files/write.ts";
import { openBeneath } from "../native/syscalls.ts";
import { isInside, type WholeChange } from "./undo-plan.ts";

/** What holding needs. */
export type HoldingScope = LockScope;

/** Locks that are held. */
export interface HeldFiles {
  /** @throws KernelError USAGE once another one may have taken one over, so that nothing may be changed any more */
  readonly requireFresh: () => void;
  readonly release: () => Promise<void>;
}

/**
 * Files that are locked; of what changed more the landing's own comparison alone keeps others' changes, because taking
 * so many locks takes longer than they last.
 */
const LOCKED_FILES_MAX = 2000;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Locks the files of `changes`, as far as their directories are there. */
export async function holdFiles(
  scope: HoldingScope,
  root: number,
  changes: readonly WholeChange[],
): Promise<HeldFiles> {
  const held: Hold[] = [];
  const release = async () => {
    for (const one of held.reverse()) await one.release();
  };
  try {
    for (const { path } of changes.slice(0, LOCKED_FILES_MAX)) {
      const key = isInside(path) ? keyOf(root, path) : undefined;
      if (key !== undefined) held.push(await hold(scope, key, path));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return {
    release,
    requireFresh() {
      if (!held.every(({ lock }) => lock.isFresh()))
        throw usageError(
          "what is to be undone took longer to compare than its locks last; nothing was undone, name paths",
        );
    },
  };
}

function keyOf(root: number, path: string): string | undefined {
  const slash = path.lastIndexOf("/");
  const directory = openBeneath(root, slash < 0 ? "." : path.slice(0, slash), OPEN_DIRECTORY, "plain");
  if (directory < 0) return undefined;
  try {
    return lockKeyOf({ directory, name: path.slice(slash + 1) });
  } finally {
    closeSync(directory);
  }
}

interface Hold {
  readonly lock: HeldLock;
  readonly release: () => Promise<void>;
}

function hold(scope: HoldingScope, key: string, path: string): Promise<Hold> {
  return new Promise((resolve, reject) => {
    const whole: Promise<void> = withFileLock(
      scope,
      { key, path },
      (lock) =>
        new Promise<void>((done) => {
          resolve({
            lock,
            async release() {
              done();
              await whole;
            },
          });
        }),
    );
    whole.catch(reject);
  });
}
