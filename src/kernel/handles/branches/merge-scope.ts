/**
 * Judges what a merge brings into the parent of a branch, path by path.
 *
 * INVARIANTS: what a file tool of this call would be refused, a merge is refused too. Policy is asked about each file as
 * the action of the merging tool. Of what git keeps only what commits are made of is merged, once the files would be:
 * nothing by which git or its hooks run programs.
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

/** Whether nothing of a directory is merged: it is managed, and not the workspace's own repository. */
export function isLeftOutOf({ workspace }: Pick<OpenWorkspace, "workspace">): (directory: string) => boolean {
  return (directory) =>
    !isRepositoryPath(directory) && workspace.zones.classify({ root: "service", path: directory }) === "managed";
}

/** An effect of a merge as policy is asked about it. What git keeps is asked about as a file of nobody's. */
export function mergeAccess(
  place: OpenWorkspace,
  { tool }: Pick<Granted, "tool">,
  { path, kind, isDirectory, bytes, isExecutable }: CommandEffect,
): ResolvedAccess {
  const isGit = isRepositoryPath(path);
  const at: WorkspacePath = { root: "service", path };
  return {
    resource: { kind: "file", path },
    effect: "write",
    action: tool.name,
    target: { place: at, zone: isGit ? "own" : zoneNow(place, at, "write") },
    arguments: { kind, directory: isDirectory, bytes, executable: isExecutable },
  };
}

/** The judge of a merge into `place`. */
export function mergeScope(granted: Granted, place: OpenWorkspace): ScopeJudge {
  const { caller, tool, policy, holdings } = granted;
  const { zones } = place.workspace;
  const { scope } = caller.lease;
  const question = programQuestion({ ...granted, caller: { ...caller, place } });
  const commit = (effect: CommandEffect): "lands" | "asks" | "drops" => {
    const decided = evaluateRequests(policy, tool, requestsOf(question, [mergeAccess(place, granted, effect)]));
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
    if (isRepositoryPath(path)) return path === ".git" || COMMITTED.test(path) ? "write" : "read";
    const at: WorkspacePath = { root: "service", path };
    const zone = zoneNow(place, at, "write");
    if (zone === "secret") return "hidden";
    if (zone === "managed" || zone === "shared") return "read";
    // what is protected for what lies beside it would be a part of a repository: no merge makes one
    const isPlain = zones.classify(at) === zone;
    const restriction = zones.restriction(at);
    const isOpen = isPlain && (restriction === undefined || restriction === "protected");
    return isOpen && (isDirectory || admits(scope, "writePaths", leasePathOf(at))) ? "write" : "read";
  };
  return { entry, below: () => "write", commit, isWhole: () => false };
}
