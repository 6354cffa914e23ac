/** Lands a planned merge in the parent of the branch, as what a command changed lands. */
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { inSlices } from "../../base/long-steps.ts";
import { repositoryLockOf } from "../git/lock-names.ts";
import { type LandingTerms, landView, NOTHING } from "../landing/land-view.ts";
import type { Landed } from "../landing/landing.ts";
import { neverMerged } from "../landing/machine/failures.ts";
import type { ViewDirectories } from "../layers/view-directories.ts";
import type { MergePlan } from "./merge-plan.ts";
import { fillMerge } from "./merge-view.ts";

/** What is merged, and where. */
export interface MergeLanding {
  readonly directories: ViewDirectories;
  /** Open descriptors: of the branch's tree, and of its parent, with the parent's real path. */
  readonly tree: number;
  readonly parent: number;
  readonly parentPath: string;
  /** Nanoseconds of the time, as the parent's file system counts, from which on its changes were not looked at. */
  readonly sinceNs: bigint;
  readonly plan: MergePlan;
}

const OPEN = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Lands all of it or nothing. @throws ToolFailure as `landView` */
export async function landMerge(
  { directories, tree, parent, parentPath, sinceNs, plan }: MergeLanding,
  terms: Omit<LandingTerms, "isWhole" | "lockOf">,
  signal: AbortSignal,
): Promise<Landed> {
  const directory = await orNothing(() => directories.make(undefined));
  let isKept = false;
  let upper = -1;
  try {
    const changes = await orNothing(async () => {
      upper = openSync(join(directory.path, "upper"), OPEN);
      const filling = fillMerge({ tree, parent, upper }, plan);
      return (await inSlices("taking over a branch", filling, signal)).result;
    });
    if (changes.length === 0) return NOTHING;
    const view = {
      directory: directory.path,
      rootPath: parentPath,
      root: parent,
      upper,
      sinceNs,
      known: () => undefined,
      admit: () => undefined,
      keep: () => {
        isKept = true;
      },
    };
    return await landView({ view, changes }, { ...terms, isWhole: true, lockOf: repositoryLockOf }, signal);
  } finally {
    if (upper >= 0) closeSync(upper);
    if (!isKept) directory.dispose();
  }
}

/** Nothing has landed yet where the machine refuses something of it. */
async function orNothing<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw neverMerged(error);
  }
}
