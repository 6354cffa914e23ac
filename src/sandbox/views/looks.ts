/** Looks at the workspace, or at its copy, before a command runs there. */
import { asStep, inSlices } from "../../base/long-steps.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { workspaceTree } from "../host/workspace-tree.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "../plan/plan.ts";
import { atOnce, type ScopeJudge, WorkspaceLook } from "../plan/workspace-mounts.ts";
import type { View } from "./views.ts";

/** Times that a workspace is looked at in a row because its repositories have changed meanwhile. */
const SANDBOX_LOOKS_MAX = 4;

/**
 * Awaited each time that the judge has come by everything; resolves with whether the tree is to be looked at again.
 * `tookTime`: others had their turn.
 */
export type Settle = (tookTime: boolean) => Promise<boolean>;

/** A look at the workspace that `settle` is content with. */
export async function settledLook(
  begin: () => WorkspaceLook,
  settle: Settle | undefined,
  signal: AbortSignal,
): Promise<WorkspaceLook> {
  for (let looks = 0; looks < SANDBOX_LOOKS_MAX; looks += 1) {
    const look = begin();
    const { hasYielded } = await inSlices("looking at the workspace", look.steps(), signal);
    if ((await settle?.(hasYielded)) !== true) return look;
  }
  throw new ToolFailure(
    "RESOURCE_BUSY",
    "the repositories of the workspace go on changing; the command did not run",
    "try again later",
  );
}

/**
 * What a look comes to, after what has changed since was looked at again: all of it held at one moment.
 *
 * A large workspace takes seconds of that, in which others have their turn. Where it changes each time meanwhile, it is
 * renewed once more in one go.
 */
export async function renewedMounts(look: WorkspaceLook, signal: AbortSignal): Promise<readonly SandboxMount[]> {
  let isSettled = false;
  for (let looks = 0; looks < SANDBOX_LOOKS_MAX && !isSettled; looks += 1) {
    const { result: hasChanged, hasYielded } = await inSlices(PLANNING, look.renewal(), signal);
    isSettled = !hasChanged || !hasYielded;
  }
  if (!isSettled) asStep(PLANNING, () => atOnce(look.renewal()));
  return (await inSlices(PLANNING, look.result(), signal)).result;
}

const PLANNING = "planning mounts";

/**
 * Copies the workspace for the view, and looks at the copy: that is what the command sees, whatever somebody made in
 * the workspace meanwhile.
 */
export async function copiedLook(
  view: View,
  {
    look,
    judge,
    settle,
  }: { readonly look: WorkspaceLook; readonly judge: ScopeJudge; readonly settle: Settle | undefined },
  signal: AbortSignal,
): Promise<WorkspaceLook> {
  const { result: mounts } = await inSlices(PLANNING, look.result(), signal);
  const hidden = new Set(
    mounts.flatMap(({ kind, target }) =>
      kind === "hide_directory" || kind === "hide_file" ? [target.slice(INSIDE_WORKSPACE.length + 1)] : [],
    ),
  );
  const { path, closed } = await view.copy(hidden, signal);
  // what stands in the place of a hidden repository does not look like one
  const isHidden = (entry: string) => hidden.has(entry) || closed.has(entry);
  const seeing: ScopeJudge = {
    ...judge,
    entry: (entry, isDirectory) => (isHidden(entry) ? "hidden" : judge.entry(entry, isDirectory)),
  };
  return await settledLook(() => new WorkspaceLook(view.identity.source, workspaceTree(path), seeing), settle, signal);
}
