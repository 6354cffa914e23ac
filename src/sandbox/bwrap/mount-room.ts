/**
 * Refuses an installation that would take the mounts which other commands of the workspace need.
 *
 * An installation itself needs few, because it may write what others may only read; so it is not refused for its own.
 */
import { inSlices } from "../../base/long-steps.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { ZoneMap } from "../../model/place/zone.ts";
import { workspaceTree } from "../host/workspace-tree.ts";
import { zoneJudge } from "../host/zone-judge.ts";
import { SANDBOX_MOUNTS_MAX, WorkspaceLook } from "../plan/workspace-mounts.ts";
import { WORKSPACE_ARGUMENTS_MAX, workspaceArguments } from "./bwrap-arguments.ts";

/** The part of what a scope may take that installations leave to people's files and narrower leases: a half. */
const LEFT_TO_OTHERS = 2;

/**
 * Looks through the workspace at `root`, where the directories that are to be filled stand already.
 *
 * Whatever contains commands here, the bounds of bwrap count as well: another kernel may use it.
 * @param count how many directories were made
 * @throws ToolFailure when commands would need more than half of the mounts that a scope may have
 */
export async function requireMountRoom(
  { root, zones, count }: { readonly root: string; readonly zones: ZoneMap; readonly count: number },
  signal: AbortSignal,
): Promise<void> {
  const look = new WorkspaceLook(root, workspaceTree(root), zoneJudge(root, zones));
  await inSlices("counting the mounts of the workspace", look.steps(), signal);
  const { result: mounts } = await inSlices("counting the mounts of the workspace", look.result(), signal);
  const isEnough =
    mounts.length <= SANDBOX_MOUNTS_MAX / LEFT_TO_OTHERS &&
    workspaceArguments(mounts) <= WORKSPACE_ARGUMENTS_MAX / LEFT_TO_OTHERS;
  if (isEnough) return;
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `with ${count} more directories of installed packages every command of the workspace would need ${mounts.length} mounts, more than half of what one can be given; nothing was installed`,
    "install fewer packages of the workspace at a time, or work in a part of it as a workspace of its own; `handrail doctor --workspace DIR` says where the mounts are",
  );
}
