/**
 * The finding of `handrail doctor` about what in a workspace keeps commands from running there.
 *
 * Looks at it as each command does, by the built-in zones; nothing is run and nothing changed.
 */
import { readFileSync } from "node:fs";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../model/place/zone.ts";
import { workspaceTree } from "../../sandbox/host/workspace-tree.ts";
import { atOnce, type ScopeJudge, WorkspaceLook } from "../../sandbox/plan/workspace-mounts.ts";
import { requireNoMounts } from "../../sandbox/run/mount-check.ts";
import { workspaceDirectory } from "../workspace/workspace-catalog.ts";
import type { Finding } from "./finding.ts";

const CHECK = "commands in the workspace";

/** Looks through the workspace at `path`; does not throw. */
export function commandsFinding(path: string): Finding {
  try {
    const root = workspaceDirectory(path);
    requireNoMounts(root, readFileSync("/proc/self/mountinfo", "utf8"));
    const look = new WorkspaceLook(root, workspaceTree(root), zoneJudge());
    atOnce(look.steps());
    const mounts = look.result().length;
    return { check: CHECK, status: "ok", detail: `\`${root}\` can be shown to commands, in ${mounts} mounts` };
  } catch (error) {
    return { check: CHECK, status: "failed", detail: error instanceof Error ? error.message : String(error) };
  }
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
