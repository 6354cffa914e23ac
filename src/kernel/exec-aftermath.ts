/**
 * What a command left under names that were not its to make or to touch, put in order after it.
 *
 * INVARIANT: the command ran, so that nothing here may be taken for its not having run.
 */
import { ToolFailure } from "../model/failure.ts";
import { putAside } from "../sandbox/files/put-aside.ts";
import { putBack } from "../sandbox/files/put-back.ts";
import type { WorkspaceRoots } from "../sandbox/files/roots.ts";
import type { SandboxEnd } from "../sandbox/sandbox.ts";

/**
 * Puts aside and back all that can be: what cannot be keeps nothing else from it. `problem` is for whoever asked for the command to throw, once everything is
 * noted: OUTCOME_UNKNOWN.
 */
export function putInOrder(roots: WorkspaceRoots, { unexpected, lost, problem }: SandboxEnd, requestId: string) {
  const suffix = requestId.replace(/[^A-Za-z0-9]/g, "").slice(0, 16);
  let failure = problem;
  const attempt = <Result>(path: string, change: () => Result): Result | undefined => {
    try {
      return change();
    } catch (error) {
      failure ??= notPutInOrder(path, error);
      return undefined;
    }
  };
  const aside = unexpected.flatMap((path) => {
    const now = attempt(path, () => putAside(roots, path, suffix));
    return now === undefined ? [] : [{ path, now }];
  });
  const back = lost.filter(({ path, points }) => attempt(path, () => putBack(roots, path, points)) === true).map(({ path }) => path);
  return { aside, back, problem: failure };
}

/** The command ran, whatever the failure says of what was tried afterwards. */
function notPutInOrder(path: string, cause: unknown): ToolFailure {
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    `the command ran, and what it did to \`${path}\`, which was not its to change, could not be undone`,
    "ask the operator to look at the workspace before anything there is used",
    undefined,
    cause instanceof ToolFailure ? undefined : cause,
  );
}
