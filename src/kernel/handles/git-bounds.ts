/**
 * Bounds what a run of git writes into a repository from a remote, and cleans up after a failure.
 *
 * The data may have come in this run or earlier in the same call. Limits of processes bound each file and the memory.
 * Here all that is written is bounded together, and in `git-egress.ts` all that arrives. A run that changes files does
 * so in a view, which is bounded itself and of which nothing lands after a failure.
 *
 * INVARIANT: what was there before a run stays.
 */

import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { GitRequest } from "../../model/work/git.ts";
import type { GitRemoteLimits } from "../../model/work/git-remote.ts";
import type { RootHandle } from "../../sandbox/files/places/roots.ts";
import { type SizeWatch, watchSize } from "../../sandbox/files/places/size-watch.ts";
import { isOccupied, leftoversOf, removeLeftovers } from "../../sandbox/git/leftovers.ts";
import type { HandleParts } from "./handle-parts.ts";

/** The bounds of one run. */
export interface GitBounds {
  /** Ends the run when it wrote too much. */
  readonly signal: AbortSignal;
  /**
   * After the run: removes what it left, if it failed.
   * @returns whether it failed because it went beyond the bound
   * @throws ToolFailure OUTCOME_UNKNOWN when something is left
   */
  readonly settle: (hasFailed: boolean) => Promise<boolean>;
}

/** Whether `request` writes what comes, or came in the same call, from a remote. */
export function isBounded({ running }: HandleParts, { reach }: GitRequest): boolean {
  return reach !== "nothing" && running.accesses.some(({ resource }) => resource.kind === "host");
}

/** Begins to look after a run that writes into the repository itself. */
export async function beginBounds(
  handle: HandleParts,
  { root }: GitRequest,
  { writtenBytesMax }: GitRemoteLimits,
): Promise<GitBounds> {
  const { roots } = handle.running.caller.place;
  const before = leftoversOf(roots.service, root);
  const stopping = new AbortController();
  const watch: SizeWatch = await watchSize(roots.service, root === "." ? ".git" : `${root}/.git`, {
    bytesMax: writtenBytesMax,
    onExceeded: () => stopping.abort(),
  });
  return {
    signal: stopping.signal,
    async settle(hasFailed) {
      const isExceeded = await watch.end();
      if (hasFailed) requireNothingLeft(await removeLeftovers(roots.service, root, before));
      return isExceeded && hasFailed;
    },
  };
}

/** @throws ToolFailure FILE_EXISTS for a new repository where something lies */
export function requireUnoccupied(service: RootHandle, root: string): void {
  if (!isOccupied(service, root)) return;
  throw new FailureWithoutEffect(
    "FILE_EXISTS",
    `\`${root.slice(0, 200)}\` is there already and is no empty directory`,
    "name another directory",
  );
}

function requireNothingLeft(names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = names.slice(0, 3).map((name) => `\`${name.slice(0, 100)}\``);
  throw new ToolFailure(
    "OUTCOME_UNKNOWN",
    `git failed, and what it left could not be removed (${shown.join(", ")})`,
    "ask the operator to remove it",
  );
}
