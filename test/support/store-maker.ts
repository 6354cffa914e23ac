/**
 * Makes one part of a repository in each of many directories, at the same moment as another thread makes the other.
 * Runs in a thread of its own; both wait for each other before each directory.
 */
import { closeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { Refusal, ToolFailure } from "../../src/model/outcome/failure.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../src/model/place/zone.ts";
import { openDestination } from "../../src/sandbox/files/places/parent.ts";
import { openWorkspaceRoots } from "../../src/sandbox/files/places/roots.ts";

const { root, part, rounds, arrived } = workerData;
const zones = compileZones(BUILT_IN_ZONE_RULES, "");
const roots = openWorkspaceRoots({ serviceRoot: root, projectRoot: root, sharedPaths: [], zones });
const counts = new Int32Array(arrived);

for (let round = 0; round < rounds; round += 1) {
  const path = `${round}/${part}/00`;
  Atomics.add(counts, 0, 1);
  while (Atomics.load(counts, 0) < 2 * (round + 1));
  try {
    closeSync(openDestination(roots, { root: "service", path }, path).directory);
  } catch (error) {
    if (!(error instanceof ToolFailure || error instanceof Refusal)) throw error;
  }
}
