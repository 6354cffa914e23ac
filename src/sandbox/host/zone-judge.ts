/** Judges a workspace by its zones alone: what a command sees whose call may write wherever people are asked. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { pathShapesRepository } from "../../model/place/repository-shape.ts";
import type { ZoneMap } from "../../model/place/zone.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";

/** The judge of the workspace at `root`, which fills no managed directory. */
export function zoneJudge(root: string, zones: ZoneMap): ScopeJudge {
  const zoneOf = (path: string) => zones.classify({ root: "service", path });
  const isThere = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
  const isOpen = (path: string) =>
    (zoneOf(path) === "protected" || (zoneOf(path) === "own" && !pathShapesRepository(path, isThere))) &&
    [undefined, "protected"].includes(zones.restriction({ root: "service", path }));
  return {
    entry: (path) => (zoneOf(path) === "secret" ? "hidden" : isOpen(path) ? "write" : "read"),
    below: (directory) => (directory === "." || isOpen(directory) ? "write" : "read"),
    isWhole: (directory) => directory !== "." && zoneOf(directory) === "managed",
  };
}
