/**
 * Judges what a sandboxed run of git may see and change of the workspace.
 *
 * Git sees files of secret zones, because it could not report changes otherwise, and it runs no code of an agent's. It
 * writes by the rules that file tools are judged by.
 *
 * INVARIANTS: of what this call may not write git changes nothing in the workspace; repositories within the tree are
 * hidden, because git would run itself in them by their own settings.
 */

import type { Denial } from "../../model/outcome/decision.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import { changesView, type GitRequest } from "../../model/work/git.ts";
import { hasTemporaryName } from "../../sandbox/files/places/temporary.ts";
import type { ScopeJudge } from "../../sandbox/sandbox.ts";
import type { Granted } from "../call/stages.ts";
import { judgeFile, requestsOf } from "../judge/decide.ts";
import { judgePlace } from "../judge/scope.ts";
import { zoneNow } from "../judge/zone-now.ts";
import { programQuestion } from "./handle-parts.ts";

/**
 * Judges one file of the workspace for a call, in all that scope and policy say; `link` is writing it as a symbolic
 * link.
 */
export type GitJudge = (path: string, effect: "read" | "write" | "link") => Denial | undefined;

/** The judge of a call of git; policy is asked about the operation that analysis named. */
export function gitJudge(granted: Granted): GitJudge {
  const { caller, tool, policy, accesses } = granted;
  const { zones } = caller.place.workspace;
  const action = accesses.find(({ resource }) => resource.kind === "git_ref")?.action;
  const question = programQuestion(granted);
  const looksAtPaths = (effect: "read" | "write", path: string): boolean => {
    const access = { resource: { kind: "file", path }, effect, ...(action !== undefined && { action }) } as const;
    return policy.looksAtPath(requestsOf(question, [access])[0]);
  };
  const allowed = new Set<string>();
  return (path, wanted) => {
    const place: WorkspacePath = { root: "service", path };
    if (wanted === "link" && zones.isAboveRule(place)) return LEADS_PAST_RULES;
    const effect = wanted === "link" ? "write" : wanted;
    const zone = zoneNow(caller.place, place, effect);
    const denial = judgePlace(caller, { tool, place, zone, effect });
    if (denial !== undefined) return denial;
    // Policy is asked once for each zone where it does not look at paths.
    const key = `${effect} ${zone} ${zones.restriction(place) ?? ""}`;
    if (allowed.has(key)) return undefined;
    const judged = judgeFile(question, { place, effect, action });
    if (judged === undefined && !looksAtPaths(effect, path)) allowed.add(key);
    return judged;
  };
}

const LEADS_PAST_RULES: Denial = {
  layer: "workspace",
  reason: "workspace_symlink_escape",
  ruleId: "WORKSPACE:symlink",
  message: "a link of that name would lead past what is said of files behind it",
};

/**
 * `judge` for what git is asked to show or stage: files in the making are no files yet. Mounts go by `judge` itself,
 * because they would name files that are gone a moment later.
 */
export function withoutNewFiles(judge: GitJudge): GitJudge {
  return (path, effect) => (hasTemporaryName(path) ? IN_THE_MAKING : judge(path, effect));
}

const IN_THE_MAKING: Denial = {
  layer: "workspace",
  reason: "workspace_blocked_zone",
  ruleId: "WORKSPACE:temporary",
  message: "the name is kept for files in the making",
};

/** A name that no file has: what holds for it holds for whatever is new. */
const NEW_NAME = "\u{10fffd}new";

/** What a run of git may reach, and the directories with repositories of their own that it came by. */
export interface GitScope {
  /** Of what git sees. Where it has a view of the files, it may write there whatever it likes. */
  readonly judge: ScopeJudge;
  /** Of what lands of such a view; absent where git has none. */
  readonly landing?: ScopeJudge;
  readonly nested: () => readonly string[];
}

/** What the run may reach, by what `judgeFiles` says of files. */
export function gitScope(judgeFiles: GitJudge, request: Pick<GitRequest, "root" | "reach" | "remote">): GitScope {
  const { root, reach } = request;
  const nested = new Set<string>();
  const own = root === "." ? ".git" : `${root}/.git`;
  const isWhole = (directory: string) =>
    directory === own || directory === "node_modules" || directory.endsWith("/node_modules");
  const judged = (isWritable: (path: string) => boolean): ScopeJudge => {
    const byDirectory = new Map<string, boolean>();
    return {
      entry(path) {
        const isRepository = path === ".git" || path.endsWith("/.git");
        if (isRepository && path !== own) {
          nested.add(path === ".git" ? "." : path.slice(0, -"/.git".length));
          return "hidden";
        }
        if (path === own) return reach === "nothing" ? "read" : "write";
        return isWritable(path) ? "write" : "read";
      },
      below(directory) {
        const known =
          byDirectory.get(directory) ?? isWritable(directory === "." ? NEW_NAME : `${directory}/${NEW_NAME}`);
        byDirectory.set(directory, known);
        return known ? "write" : "read";
      },
      isWhole,
    };
  };
  const isSeen = { nested: () => [...nested].sort() };
  if (reach !== "files" && reach !== "new") {
    const judge = judged(() => false);
    return { judge, ...(changesView(request) && { landing: judge }), ...isSeen };
  }
  // A new tree has nothing yet that could be overwritten; its files become what their names say once they are there.
  const isNew = (path: string) =>
    reach === "new" && (root === "." || path === root || path.startsWith(`${root}/`) || root.startsWith(`${path}/`));
  const landing = {
    ...judged((path) => isNew(path) || judgeFiles(path, "write") === undefined),
    allowsLink: (path: string) => isNew(path) || judgeFiles(path, "link") === undefined,
  };
  return { judge: judged(() => true), landing, ...isSeen };
}
