/**
 * Judges what a merge brings into the parent of a branch, path by path.
 *
 * INVARIANTS: what a file tool of this call would be refused, a merge is refused too. Policy is asked about each file
 * as the action of the merging tool, and about what git keeps by its references. Of that only what commits are made of
 * is merged: nothing by which git or its hooks run programs.
 */
import { LEAK_RULE } from "../../../flow/flow.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import { admits } from "../../../policy/lease-scope.ts";
import type { CommandEffect, Reach, ScopeJudge } from "../../../sandbox/sandbox.ts";
import type { OpenWorkspace } from "../../call/parts.ts";
import type { Granted, ResolvedAccess } from "../../call/stages.ts";
import { evaluateRequests, requestsOf } from "../../judge/decide.ts";
import { leasePathOf } from "../../judge/scope.ts";
import { zoneNow } from "../../judge/zone-now.ts";
import { programQuestion } from "../handle-parts.ts";

/** What of a repository a merge takes. */
const COMMITTED = /^\.git\/(?:HEAD|ORIG_HEAD|COMMIT_EDITMSG|index|packed-refs|(?:objects|refs|logs)(?:\/.*)?)$/;

/** Whether a path is one of the repository of the workspace itself. */
export function isRepositoryPath(path: string): boolean {
  return path === ".git" || path.startsWith(".git/");
}

/**
 * Whether nothing of a path, and of what lies below it, is merged: it is managed, and not what commits are made of in
 * the workspace's own repository.
 */
export function isLeftOutOf({ workspace }: Pick<OpenWorkspace, "workspace">): (path: string) => boolean {
  return (path) => {
    if (isRepositoryPath(path)) return path !== ".git" && !COMMITTED.test(path);
    return workspace.zones.classify({ root: "service", path }) === "managed";
  };
}

/** An effect of a merge as policy is asked about it. What git keeps is asked about by its references. */
export function mergeAccess(
  { tool, caller: { place } }: Pick<Granted, "tool" | "caller">,
  { path, kind, isDirectory, bytes, isExecutable }: CommandEffect,
): ResolvedAccess {
  const action = tool.name;
  if (isRepositoryPath(path)) return { resource: { kind: "git_ref", ref: referenceOf(path) }, effect: "write", action };
  const at: WorkspacePath = { root: "service", path };
  return {
    resource: { kind: "file", path },
    effect: "write",
    action,
    target: { place: at, zone: zoneNow(place, at, "write") },
    arguments: { kind, directory: isDirectory, bytes, executable: isExecutable },
  };
}

/** Whether a merge, whoever makes it, may write a path of `place`. */
export function mayBeMerged(place: OpenWorkspace, path: string): Reach {
  if (isRepositoryPath(path)) return path === ".git" || COMMITTED.test(path) ? "write" : "read";
  const at: WorkspacePath = { root: "service", path };
  const { zones } = place.workspace;
  const zone = zoneNow(place, at, "write");
  if (zone === "secret") return "hidden";
  if (zone === "managed" || zone === "shared") return "read";
  // what is protected for what lies beside it would be a part of a repository: no merge makes one
  const restriction = zones.restriction(at);
  const isOpen = zones.classify(at) === zone && (restriction === undefined || restriction === "protected");
  return isOpen ? "write" : "read";
}

/** The reference that a path of a repository is; `*` for what holds commits and logs. */
function referenceOf(path: string): string {
  return /^\.git\/(HEAD|refs\/.+)$/.exec(path)?.[1] ?? "*";
}

/** The judge of a merge into the place of the caller. */
export function mergeScope(granted: Granted): ScopeJudge {
  const { caller, tool, policy, holdings } = granted;
  const { scope } = caller.lease;
  const { place } = caller;
  const question = programQuestion(granted);
  const commit = (effect: CommandEffect): "lands" | "asks" | "drops" => {
    const decided = evaluateRequests(policy, tool, requestsOf(question, [mergeAccess(granted, effect)]));
    if (!decided.ok) return "drops";
    const due = decided.value.obligations.filter(
      ({ ruleId, obligation }) =>
        !(ruleId === LEAK_RULE && holdings.approval?.rules.has(LEAK_RULE) === true) &&
        !(obligation === "arm" && caller.armed),
    );
    if (due.length === 0) return "lands";
    return due.every(({ obligation }) => obligation === "ask") ? "asks" : "drops";
  };
  const entry = (path: string, isDirectory: boolean): Reach => {
    const reach = mayBeMerged(place, path);
    if (reach !== "write" || isDirectory || isRepositoryPath(path)) return reach;
    return admits(scope, "writePaths", leasePathOf({ root: "service", path })) ? "write" : "read";
  };
  return { entry, below: () => "write", commit, isWhole: () => false, isOfRepository: isRepositoryPath };
}
