/**
 * Reads the state of the repositories that a call is about: references, what is staged, and what is under way.
 *
 * INVARIANTS: the references are all that the call's analysis asked about, under whatever names. The state is read anew
 * each time, so an approval no longer fits once anything in it differs. What is read here is asked of the call's own
 * look as well, so that it has to stand until the call has changed something.
 */
import type { JsonObject } from "../../base/json.ts";
import type { Analysed } from "../call/stages.ts";

/** Of a call that touches no repository nothing. */
export function repositoryGround({ accesses, caller, look }: Analysed): readonly JsonObject[] {
  const { repository } = caller.place;
  if (repository === undefined) return [];
  // What is staged decides about what changes here, and not about what a remote is told.
  const changesHere = accesses.some(
    ({ resource, effect }) => resource.kind === "git_ref" && effect === "write" && resource.remote === undefined,
  );
  // A name stands for another remote once its address is another.
  const namesRemote = accesses.some(({ resource }) => resource.kind === "git_ref" && resource.remote !== undefined);
  return [...look.seenRepositories].map((directory): JsonObject => {
    const seen = look.repository(directory);
    if (changesHere && seen.kind === "found") {
      seen.staged();
      seen.progress();
    }
    const now = repository(directory);
    if (now.kind !== "found") return { directory, kind: now.kind };
    const names = ["HEAD", ...(look.judged(now.root)?.names ?? [])];
    return {
      directory,
      root: now.root,
      head: now.head ?? "",
      branch: now.branch ?? "",
      commits: names.map((name) => [name, now.resolve(name) ?? ""]),
      ...(namesRemote && { remotes: JSON.stringify(now.remotes) }),
      ...(changesHere && { staged: now.staged(), progress: now.progress() }),
    };
  });
}
