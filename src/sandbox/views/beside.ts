/**
 * Plans the mounts of directories that a run sees beside its workspace, each by a judge of its own.
 *
 * They are looked at as the workspace is. Nothing lands from them: what a run may write there it writes there itself.
 */
import { workspaceTree } from "../host/workspace-tree.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "../plan/plan.ts";
import { type ScopeJudge, WorkspaceLook } from "../plan/workspace-mounts.ts";
import { renewedMounts, settledLook } from "./looks.ts";

/** A directory beside the workspace. */
export interface BesideDirectory {
  /** On the machine, a real path. */
  readonly root: string;
  /** Absolute, inside: a place of its own that nothing else is mounted at. */
  readonly target: string;
  readonly judge: ScopeJudge;
}

/** The mounts of `directories`. @param sources where mounts find each of them, absolute */
export async function besideMounts(
  directories: readonly BesideDirectory[],
  sources: readonly string[] = [],
  signal: AbortSignal,
): Promise<readonly SandboxMount[]> {
  const all: SandboxMount[] = [];
  for (const [index, { root, target, judge }] of directories.entries()) {
    const source = sources[index] ?? root;
    const begin = () => new WorkspaceLook(source, workspaceTree(root), judge);
    const mounts = await renewedMounts(await settledLook(begin, undefined, signal), signal);
    all.push(
      ...mounts.map((mount) => ({ ...mount, target: `${target}${mount.target.slice(INSIDE_WORKSPACE.length)}` })),
    );
  }
  return all;
}
