/**
 * Works out the smallest lease that covers what calls used. Pure.
 *
 * A lease only takes away, so that a small one costs no prompt and bounds what an agent can do the next day. Paths are
 * widened to their first directory where three lie in it. Commands read what they like of their view: where some ran,
 * reading is not narrowed.
 */
import { isJsonObject } from "../../../base/json.ts";
import { LEASE_DIMENSIONS, type LeaseDimension, type LeaseScope } from "../../../model/people/lease.ts";
import type { UsedAccess } from "./asked-requests.ts";

/** Paths in one directory that stand for all of it. */
const PATHS_OF_DIRECTORY = 3;
/** Patterns of one dimension; more are no list that a person reads, and the dimension is left open. */
const PATTERNS_MAX = 64;

/** The lease. An empty list admits nothing. */
export function smallestLease(used: readonly UsedAccess[]): LeaseScope {
  const names = new Map(LEASE_DIMENSIONS.map((dimension) => [dimension, new Set<string>()] as const));
  const add = (dimension: LeaseDimension, value: unknown) =>
    void (typeof value === "string" && value !== "" && names.get(dimension)?.add(value));
  let ran = false;
  for (const { tool, accesses, effects } of used) {
    add("tools", tool);
    for (const path of effects) add("writePaths", path);
    for (const access of accesses) {
      if (!isJsonObject(access)) continue;
      const { kind, effect, path, root, binary, host, operation, provider, model, id } = access;
      if (kind === "file") add(effect === "read" ? "readPaths" : "writePaths", root === "project" ? undefined : path);
      ran ||= kind === "command";
      add("commands", binary);
      add("hosts", host);
      add("gitOperations", operation);
      add("providers", provider);
      add("models", model);
      if (kind === "artifact") add("artifacts", id);
    }
  }
  const restrictionOf = (dimension: LeaseDimension): LeaseScope[LeaseDimension] => {
    const found = [...(names.get(dimension) ?? [])].sort();
    if (dimension === "readPaths" && ran) return [];
    const patterns = dimension === "readPaths" || dimension === "writePaths" ? widened(found) : found;
    return patterns.length > PATTERNS_MAX ? [] : [patterns];
  };
  return Object.fromEntries(
    LEASE_DIMENSIONS.map((dimension) => [dimension, restrictionOf(dimension)]),
  ) as unknown as LeaseScope;
}

/** Paths, with one pattern for each directory in which several lie; a path is taken as it is, whatever signs it has. */
function widened(paths: readonly string[]): readonly string[] {
  const byDirectory = Map.groupBy(paths, (path) => (path.includes("/") ? (path.split("/")[0] ?? "") : ""));
  const patterns = [...byDirectory].flatMap(([directory, all]) =>
    directory !== "" && all.length >= PATHS_OF_DIRECTORY ? [`${escaped(directory)}/**`] : all.map(escaped),
  );
  return [...new Set(patterns)].sort();
}

/** A path as a glob that matches it alone. */
function escaped(path: string): string {
  return path.replaceAll(/[\\*?[\]{}!]/g, (sign) => `\\${sign}`);
}
