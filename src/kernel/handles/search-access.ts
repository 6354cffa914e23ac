/**
 * The search handle of a call: what the call may read decides file by file what is searched.
 *
 * The searching code is loaded with the first search. INVARIANT: a file is searched only if zone, lease, mode and policy let
 * this call read it outright.
 */

import { Refusal } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { SearchAccess } from "../../model/work/search.ts";
import type { SearchScope } from "../../sandbox/search/search.ts";
import type { PolicyJudge, TreeJudge } from "../call/judges.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";
import { judgePlace, leavesReading, unanalysed } from "../judge/scope.ts";

/** What the handle is made of. */
export interface SearchParts {
  readonly parts: Pick<KernelParts, "clock">;
  readonly trail: Trail;
  readonly caller: NonNullable<Trail["caller"]>;
  readonly judge: PolicyJudge;
  readonly judgeTree: TreeJudge;
  readonly signal: AbortSignal;
}

/** Search for one call. */
export function createSearch({ parts, trail, caller, judge, judgeTree, signal }: SearchParts): SearchAccess {
  const { tool, redaction } = trail;
  const { workspace, roots } = caller.place;
  const mayRead = (place: WorkspacePath) => {
    const zone = workspace.zones.classify(place);
    return zone !== "secret" && zone !== "managed" && leavesReading(caller, tool?.name ?? "", place) && judgeTree(place, zone);
  };
  const access = async (path: string): Promise<SearchAccess> => {
    const named = trail.accesses.some(({ resource, effect }) => resource.kind === "file" && resource.path === path && effect === "read");
    if (!named || tool === undefined) throw new Refusal(unanalysed(trail.call?.tool ?? "", "read"));
    const { createSearchAccess } = await import("../../sandbox/search/search.ts");
    const { searchThreads } = await import("../../sandbox/search/threads.ts");
    const scope: SearchScope = {
      workspace,
      roots,
      judge: (target, effect) => judgePlace(caller, tool, target, workspace.zones.classify(target), effect) ?? judge(target, effect),
      isolationLevel: caller.session.isolationLevel,
      mayRead,
      threads: searchThreads(),
      ...(redaction && { hidden: (bytes) => redaction.hidden(bytes) }),
      clock: parts.clock,
      signal,
    };
    return createSearchAccess(scope);
  };
  return {
    find: async (path, options) => (await access(path)).find(path, options),
    count: async (path, query) => (await access(path)).count(path, query),
  };
}
