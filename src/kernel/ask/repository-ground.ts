/**
 * Reads the state of the repositories that a call is about: references and what is staged.
 *
 * The references are read for where they lead now.
 *
 * INVARIANT: the state is read anew each time, so an approval no longer fits once anything in it differs.
 */
import type { JsonObject } from "../../base/json.ts";
import type { GitRefResource } from "../../model/place/access.ts";
import type { Analysed } from "../call/stages.ts";

/** Of a call that touches no repository nothing. */
export function repositoryGround({ accesses, caller, look }: Analysed): readonly JsonObject[] {
  const { repository } = caller.place;
  if (repository === undefined) return [];
  const touched = accesses.filter(({ resource }) => resource.kind === "git_ref");
  // What is staged decides about what changes here, and not about what a remote is told.
  const changesHere = touched.some(
    ({ resource, effect }) => effect === "write" && (resource as GitRefResource).remote === undefined,
  );
  return [...look.seenRepositories].map((directory): JsonObject => {
    const now = repository(directory);
    if (now.kind !== "found") return { directory, kind: now.kind };
    const names = ["HEAD", ...touched.map(({ resource }) => (resource as GitRefResource).ref)];
    return {
      directory,
      root: now.root,
      branch: now.branch ?? "",
      commits: names.map((name) => now.resolve(name) ?? ""),
      ...(changesHere && { staged: now.staged() }),
    };
  });
}
