/**
 * Classifies a file that may be written by zone, looking at what lies beside it.
 *
 * Where git could take the file's directory for a repository, the zone depends on those neighbours.
 */
import type { WorkspacePath } from "../../model/place/access.ts";
import { pathShapesRepository } from "../../model/place/repository-shape.ts";
import type { Zone } from "../../model/place/zone.ts";
import { repositoryFiles } from "../../sandbox/git/repository-files.ts";
import type { Judged } from "../call/stages.ts";

/**
 * The zone of `target` as it is now: `protected` for what completes or feeds a look-alike repository.
 *
 * The `HEAD` that every repository needs is protected by its name alone, so that no two calls can complete one between
 * them: here is told only what already lies beside a `HEAD`.
 */
export function zoneNow({ workspace, roots }: Judged["place"], target: WorkspacePath, effect: "read" | "write"): Zone {
  const zone = workspace.zones.classify(target);
  if (zone !== "own" || effect === "read" || roots === undefined || target.root === "scratch") return zone;
  const files = repositoryFiles(target.root === "service" ? roots.service : roots.project, ".");
  return pathShapesRepository(target.path, (path) => files.kindOf(path) !== "nothing") ? "protected" : zone;
}
