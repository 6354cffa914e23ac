/**
 * Creates the search handle of one call, which searches only files that the call may read.
 *
 * The searching code is loaded with the first search. INVARIANT: a file is searched only if zone, lease, mode and
 * policy let this call read it outright.
 */

import { Refusal } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { SearchAccess } from "../../../model/work/search.ts";
import type { SearchScope } from "../../../sandbox/search/search.ts";
import { judgePlace, leavesReading, unanalysed } from "../../judge/scope.ts";
import { isolationOf } from "../../judge/workspace-programs.ts";
import type { HandleParts } from "../handle-parts.ts";

/** Search for one call. */
export function createSearch({ kernel, running, rules, signal }: HandleParts): SearchAccess {
  const { caller, tool, redaction, accesses } = running;
  const { workspace, roots } = caller.place;
  const mayRead = (place: WorkspacePath) => {
    const zone = workspace.zones.classify(place);
    return (
      zone !== "secret" && zone !== "managed" && leavesReading(caller, tool.name, place) && rules.judgeTree(place, zone)
    );
  };
  const access = async (path: string): Promise<SearchAccess> => {
    const named = accesses.some(
      ({ resource, effect }) => resource.kind === "file" && resource.path === path && effect === "read",
    );
    if (!named) throw new Refusal(unanalysed(tool.name, "read"));
    const { createSearchAccess } = await import("../../../sandbox/search/search.ts");
    const { searchThreads } = await import("../../../sandbox/search/threads.ts");
    const scope: SearchScope = {
      workspace,
      roots,
      judge: (target, effect) =>
        judgePlace(caller, { tool, place: target, zone: workspace.zones.classify(target), effect }) ??
        rules.judge(target, effect),
      isolationLevel: isolationOf(caller),
      mayRead,
      threads: searchThreads(),
      hidden: (bytes) => redaction.hiddenAhead(bytes)?.then(() => redaction.hidden(bytes)) ?? redaction.hidden(bytes),
      clock: kernel.parts.clock,
      signal,
    };
    return createSearchAccess(scope);
  };
  return {
    find: async (path, options) => (await access(path)).find(path, options),
    count: async (path, query) => (await access(path)).count(path, query),
  };
}
