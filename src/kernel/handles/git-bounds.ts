/**
 * Bounds what a run of git writes with data from a remote, and cleans up after a failure.
 *
 * The data may have come in this run or earlier in the same call. Limits of processes bound each file and the memory.
 * Here all that is written is bounded together, and in `git-egress.ts` all that arrives.
 *
 * INVARIANTS: What was there before a run stays. A directory is removed only where the run itself made it or found it
 * empty.
 */

import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { GitExceeded, GitRequest } from "../../model/work/git.ts";
import type { GitRemoteLimits } from "../../model/work/git-remote.ts";
import { rootPath } from "../../sandbox/files/places/roots.ts";
import { type SizeWatch, watchSize } from "../../sandbox/files/places/size-watch.ts";
import { type Leftovers, leftoversOf, placeForNew, removeLeftovers } from "../../sandbox/git/leftovers.ts";
import { insideWorkspace, type ScopeJudge } from "../../sandbox/sandbox.ts";
import { EXEC_TIMEOUT_MS } from "./exec-access.ts";
import type { HandleParts } from "./handle-parts.ts";

/** The bounds of one run. */
export interface GitBounds {
  /** Ends the run when it wrote too much. */
  readonly signal: AbortSignal;
  /**
   * After the run: removes what it left, if it failed.
   * @returns the bound that it went beyond
   * @throws ToolFailure OUTCOME_UNKNOWN when something is left
   */
  readonly settle: (hasFailed: boolean, judge: ScopeJudge) => Promise<GitExceeded | undefined>;
}

/** Whether `request` writes what comes, or came in the same call, from a remote. */
export function isBounded({ running }: HandleParts, { reach }: GitRequest): boolean {
  return reach !== "nothing" && running.accesses.some(({ resource }) => resource.kind === "host");
}

/**
 * Begins to look after a run.
 * @throws ToolFailure FILE_EXISTS for a new repository where something lies
 */
export async function beginBounds(
  handle: HandleParts,
  request: GitRequest,
  { writtenBytesMax }: GitRemoteLimits,
): Promise<GitBounds> {
  const { roots } = handle.running.caller.place;
  const { root, reach } = request;
  const place = reach === "new" ? placeForNew(roots.service, root) : undefined;
  if (place === "occupied") throw isOccupied(root);
  const before: Leftovers = reach === "new" ? new Map() : leftoversOf(roots.service, root);
  const stopping = new AbortController();
  // A merge writes files as well; what is fetched lies in the repository alone.
  const watched = reach === "repository" ? (root === "." ? ".git" : `${root}/.git`) : root;
  const watch: SizeWatch = await watchSize(roots.service, watched, {
    bytesMax: writtenBytesMax,
    onExceeded: () => stopping.abort(),
  });
  return {
    signal: stopping.signal,
    async settle(hasFailed, judge) {
      const isExceeded = await watch.end();
      // It may be done before it is looked at: a clone that is too large is none, whereas what was fetched is part of
      // the repository by then.
      const isRefused = hasFailed || (isExceeded && place !== undefined);
      if (isRefused && place !== undefined) await removeNew(handle, { root, keepsItself: place === "empty" }, judge);
      if (hasFailed && place === undefined) requireNothingLeft(await removeLeftovers(roots.service, root, before));
      return isExceeded && isRefused ? { setting: "written_mb", bytesMax: writtenBytesMax } : undefined;
    },
  };
}

/**
 * In the sandbox, by the same scope that it was made by: nothing else can be reached from there, whatever lies in the
 * directory.
 */
async function removeNew(
  handle: HandleParts,
  { root, keepsItself }: { readonly root: string; readonly keepsItself: boolean },
  judge: ScopeJudge,
): Promise<void> {
  const { roots } = handle.running.caller.place;
  if (placeForNew(roots.service, root) === (keepsItself ? "empty" : "absent")) return;
  const inside = insideWorkspace(root);
  const sandbox = await handle.kernel.parts.sandbox.open();
  const end = await sandbox.run(
    {
      root: rootPath(roots.service),
      judge,
      command: ["find", inside, "-xdev", ...(keepsItself ? ["-mindepth", "1"] : []), "-delete"],
      workDir: "/",
      environment: {},
      limits: { ...handle.kernel.parts.sandbox.limits(), timeoutMs: EXEC_TIMEOUT_MS },
    },
    { stdout: () => undefined, stderr: () => undefined },
    // also where whoever called has gone
    AbortSignal.timeout(EXEC_TIMEOUT_MS),
  );
  if (end.exitCode !== 0) requireNothingLeft([root]);
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

function isOccupied(root: string): ToolFailure {
  return new FailureWithoutEffect(
    "FILE_EXISTS",
    `\`${root.slice(0, 200)}\` is there already and is no empty directory`,
    "name another directory",
  );
}
