/**
 * Judges what a merge brings into the parent of a branch, path by path.
 *
 * INVARIANTS: what a file tool of this call would be refused, a merge is refused too. Policy is asked about each file
 * as the action of the merging tool, and about what git keeps by its references. Of that only what commits are made of
 * is merged: nothing by which git or its hooks run programs.
 */
import { LEAK_RULE } from "../../../flow/flow.ts";
import type { GitRefResource, WorkspacePath } from "../../../model/place/access.ts";
import { type GitRepository, NO_REPOSITORY } from "../../../model/work/git.ts";
import { isProtected } from "../../../model/work/protected-branches.ts";
import { admits } from "../../../policy/lease-scope.ts";
import {
  looseReference,
  type MovedReference,
  type MovedReferences,
} from "../../../sandbox/branches/moved-references.ts";
import type { CommandEffect, Reach, ScopeJudge } from "../../../sandbox/sandbox.ts";
import type { OpenWorkspace } from "../../call/parts.ts";
import type { Granted, ResolvedAccess } from "../../call/stages.ts";
import { evaluateRequests, requestsOf } from "../../judge/decide.ts";
import { leasePathOf } from "../../judge/scope.ts";
import { zoneNow } from "../../judge/zone-now.ts";
import { programQuestion } from "../handle-parts.ts";
import type { ReferenceSummary } from "./reference-summaries.ts";

/** What of a repository a merge takes. */
const COMMITTED =
  /^\.git\/(?!.*\.lock(?:\/|$))(?:HEAD|ORIG_HEAD|COMMIT_EDITMSG|index|packed-refs|(?:objects|refs|logs)(?:\/.*)?)$/;
/** What says where else objects lie, or how commits hang together: git believes it. */
const BELIEVED = /^\.git\/objects\/info(?:\/|$)/;

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
    if (isRepositoryPath(path)) return path !== ".git" && !isCommitted(path);
    return workspace.zones.classify({ root: "service", path }) === "managed";
  };
}

function isCommitted(path: string): boolean {
  return COMMITTED.test(path) && !BELIEVED.test(path);
}

/** What is known of the references that a merge moves. */
export interface MergedReferences extends MovedReferences {
  readonly summaries: ReadonlyMap<string, ReferenceSummary>;
}

/**
 * An effect of a merge as policy is asked about it. What git keeps is asked about by its references: each that moves as
 * a part of the merge, and as the operation of git that would move it so.
 */
export function mergeAccesses(
  granted: Pick<Granted, "tool" | "caller">,
  { path, kind, isDirectory, bytes, isExecutable }: CommandEffect,
  references: MergedReferences,
): readonly ResolvedAccess[] {
  const { place } = granted.caller;
  const action = granted.tool.name;
  if (isRepositoryPath(path)) return referenceAccesses(granted, path, references);
  const at: WorkspacePath = { root: "service", path };
  return [
    {
      resource: { kind: "file", path },
      effect: "write",
      action,
      target: { place: at, zone: zoneNow(place, at, "write") },
      arguments: { kind, directory: isDirectory, bytes, executable: isExecutable },
    },
  ];
}

/** References that one list may move and be asked about one by one; of more, any may be any. */
const MOVED_MAX = 200;

function referenceAccesses(
  { tool, caller: { place } }: Pick<Granted, "tool" | "caller">,
  path: string,
  { moved, isKnown, summaries }: MergedReferences,
): readonly ResolvedAccess[] {
  const own = looseReference(path);
  const isList = path === ".git/packed-refs";
  const asMerge = (ref: string, marks: Partial<GitRefResource>): ResolvedAccess => ({
    resource: { kind: "git_ref", ref, ...marks },
    effect: "write",
    action: tool.name,
  });
  const those = moved.filter(({ name }) => name === own || isList);
  if (isList && (!isKnown || those.length > MOVED_MAX)) return [asMerge("*", { protected: true, force: true })];
  if (those.length === 0) return [asMerge(own ?? "*", {})];
  const repository = place.repository?.(".") ?? NO_REPOSITORY;
  return those.flatMap((one) => {
    const { short, action, isLosing } = moveOf(one, summaries.get(one.name));
    const isMarked = isProtectedReference(repository, one.name);
    const commit = OBJECT.test(one.before ?? "") ? one.before : undefined;
    const marks = {
      ...(isMarked && { protected: true as const }),
      ...(isLosing && { force: true as const }),
      ...(commit !== undefined && { commit }),
    };
    const operation = action.slice("git:".length);
    return [
      asMerge(one.name, marks),
      { resource: { kind: "git_ref", ref: short, operation, ...marks }, effect: "write", action },
    ];
  });
}

/** Whether a reference is one that the operator protects; where nobody can say, it is. */
export function isProtectedReference(repository: GitRepository, name: string): boolean {
  return name !== "HEAD" && (repository.kind !== "found" || isProtected(repository, shortName(name)));
}

function shortName(name: string): string {
  return name.replace(/^refs\/(?:heads|tags)\//, "");
}

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The operation of git that would move a reference so, and its name there. */
function moveOf({ name, before }: MovedReference, summary: ReferenceSummary | undefined) {
  const [, kind] = /^refs\/(heads|tags)\//.exec(name) ?? [];
  const short = shortName(name);
  const isLosing = before !== undefined && name !== "HEAD" && summary?.isForward !== true;
  if (name === "HEAD") return { short, action: "git:checkout", isLosing };
  if (name === "refs/stash") return { short, action: "git:stash", isLosing };
  if (kind === "tags") return { short, action: "git:tag", isLosing: before !== undefined };
  const isForward = kind === "heads" && before !== undefined && !isLosing;
  return { short, action: isForward ? "git:merge" : "git:branch", isLosing };
}

/** Whether a merge, whoever makes it, may write a path of `place`. */
export function mayBeMerged(place: OpenWorkspace, path: string): Reach {
  if (isRepositoryPath(path)) return path === ".git" || isCommitted(path) ? "write" : "read";
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

/** What every merge keeps to of what git keeps: no link of it is merged, because git would follow it anywhere. */
export const REPOSITORY_RULES = {
  isOfRepository: isRepositoryPath,
  allowsLink: (path: string) => !isRepositoryPath(path),
};

/** The judge of a merge into the place of the caller. */
export function mergeScope(granted: Granted, references: () => MergedReferences): ScopeJudge {
  const { caller, tool, policy, holdings } = granted;
  const { scope } = caller.lease;
  const { place } = caller;
  const question = programQuestion(granted);
  const commit = (effect: CommandEffect): "lands" | "asks" | "drops" => {
    const accesses = mergeAccesses(granted, effect, references());
    const isCovered = accesses.every(
      ({ resource }) =>
        resource.kind !== "git_ref" ||
        resource.operation === undefined ||
        admits(scope, "gitOperations", resource.operation),
    );
    const decided = evaluateRequests(policy, tool, requestsOf(question, accesses));
    if (!isCovered || !decided.ok) return "drops";
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
  return { ...REPOSITORY_RULES, entry, below: () => "write", commit, isWhole: () => false };
}
