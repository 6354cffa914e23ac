/**
 * Removes what a failed git run leaves in a repository: half a pack, and abandoned locks.
 *
 * Git removes most of it itself, unless it is killed. It leaves packs lying that it could not make out.
 *
 * INVARIANTS: what was there before the run stays, and so does what another git beside it still writes. No link is
 * followed.
 */
import { closeSync, constants, readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import type { RootHandle } from "../files/places/roots.ts";
import { openBeneath, removeName } from "../native/syscalls.ts";
import { repositoryFiles } from "./repository-files.ts";

/**
 * Milliseconds that half-made files of a run of git have to stay as they are before they are removed: another git may
 * be writing them.
 */
const GIT_LEFTOVERS_WAIT_MS = 1000;

const READ_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PACKS = ".git/objects/pack";
const HALF_MADE = /^tmp_[a-z]+_\w+$/;
const LOCKS = ["shallow.lock", "packed-refs.lock", "FETCH_HEAD.lock"];

/** Names that a run could leave, from the repository's directory, with marks of what lies there. */
export type Leftovers = ReadonlyMap<string, string>;

/** What lies in the repository of `directory` now under names that a run of git could leave. */
export function leftoversOf(handle: RootHandle, directory: string): Leftovers {
  const files = repositoryFiles(handle, directory);
  const halfMade = namesIn(handle, at(directory, PACKS)).filter((name) => HALF_MADE.test(name));
  const names = [...halfMade.map((name) => `${PACKS}/${name}`), ...LOCKS.map((name) => `.git/${name}`)];
  return new Map(names.filter((name) => files.kindOf(name) === "file").map((name) => [name, files.markOf(name)]));
}

/**
 * Removes what was not there `before` and that nobody writes to any more. @returns names of what could not be removed
 */
export async function removeLeftovers(
  handle: RootHandle,
  directory: string,
  before: Leftovers,
): Promise<readonly string[]> {
  const left = [...leftoversOf(handle, directory)].filter(([name]) => !before.has(name));
  if (left.length === 0) return [];
  await wait(GIT_LEFTOVERS_WAIT_MS);
  const now = leftoversOf(handle, directory);
  return left.flatMap(([name, mark]) =>
    now.get(name) === mark && !isRemoved(handle, at(directory, name)) ? [name] : [],
  );
}

function isRemoved(handle: RootHandle, path: string): boolean {
  const slash = path.lastIndexOf("/");
  const parent = openBeneath(handle.descriptor, path.slice(0, slash), READ_DIRECTORY, "plain");
  if (parent < 0) return false;
  try {
    return removeName(parent, path.slice(slash + 1), "file") >= 0;
  } finally {
    closeSync(parent);
  }
}

/** Names in a directory; none where there is none. */
function namesIn(handle: RootHandle, path: string): readonly string[] {
  const descriptor = openBeneath(handle.descriptor, path, READ_DIRECTORY, "plain");
  if (descriptor < 0) return [];
  try {
    return readdirSync(`/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
}

function at(directory: string, path: string): string {
  return directory === "." ? path : `${directory}/${path}`;
}

/** Whether something lies where a new repository is to be, which is no empty directory. */
export function isOccupied(handle: RootHandle, path: string): boolean {
  const kind = repositoryFiles(handle, path).kindOf(".");
  if (kind === "nothing") return false;
  if (kind !== "directory") return true;
  const descriptor = openBeneath(handle.descriptor, path, READ_DIRECTORY, "plain");
  if (descriptor < 0) return true;
  try {
    return readdirSync(`/proc/self/fd/${descriptor}`).length > 0;
  } finally {
    closeSync(descriptor);
  }
}
