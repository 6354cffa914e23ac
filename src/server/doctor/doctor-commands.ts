/**
 * The finding of `handrail doctor` about what in a workspace keeps commands from running there.
 *
 * Looks at it as each command does, by the built-in zones; nothing is run and nothing changed.
 */
import { readFileSync } from "node:fs";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/place/zone.ts";
import { type WorkspaceTree, workspaceTree } from "../../sandbox/host/workspace-tree.ts";
import { atOnce, type ScopeJudge, WorkspaceLook } from "../../sandbox/plan/workspace-mounts.ts";
import { requireNoMounts } from "../../sandbox/run/mount-check.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import { attempt, type Finding } from "./finding.ts";

const CHECK = "commands in the workspace";

/** Looks through the workspace at `path`; does not throw. */
export function commandsFinding(path: string): Promise<Finding> {
  return attempt(CHECK, () => {
    const root = workspaceDirectory(path);
    requireNoMounts(root, readFileSync("/proc/self/mountinfo", "utf8"));
    const tree = workspaceTree(root);
    const look = new WorkspaceLook(root, tree, zoneJudge());
    atOnce(look.steps());
    const mounts = look.result().length;
    const detail = `\`${root}\` can be shown to commands, in ${mounts} mounts`;
    const others = othersDirectory(tree);
    return others === undefined ? detail : { status: "advisory", detail: `${detail}; ${others}` };
  });
}

/** What of another user or group is in a view keeps its looks, but can be neither changed nor moved there. */
function othersDirectory(tree: WorkspaceTree): string | undefined {
  const own = tree.seen(".");
  const isRoot = process.geteuid?.() === 0;
  const [userId, groupId] = isRoot ? [own?.userId, own?.groupId] : [process.geteuid?.(), process.getegid?.()];
  for (const [directory, seen] of tree.allSeen()) {
    if (seen.userId === userId && seen.groupId === groupId) continue;
    return `\`${directory}\` belongs to another user or group, so that commands cannot change what lies there (EOVERFLOW): chown it, or leave it to people`;
  }
  return undefined;
}

function zoneJudge(): ScopeJudge {
  const zones = compileZones(BUILT_IN_ZONE_RULES, "");
  const zoneOf = (path: string) => zones.classify({ root: "service", path });
  return {
    entry: (path) => (zoneOf(path) === "secret" ? "hidden" : zoneOf(path) === "own" ? "write" : "read"),
    below: (directory) => (directory === "." || zoneOf(directory) === "own" ? "write" : "read"),
    isWhole: (directory) => directory !== "." && zoneOf(directory) === "managed",
  };
}
