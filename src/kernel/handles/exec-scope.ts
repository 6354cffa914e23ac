/**
 * Judges what a sandboxed command may see and change of the workspace.
 *
 * The sandbox asks for the scope of the call in this form. The rules are the very ones that file tools are judged by.
 *
 * INVARIANTS: what a file tool of this call would be refused, a command is refused too. The exception is managed
 * directories: builds and tests need what is installed, so commands may read them, and write those that their tool is
 * there to fill. What a command writes it writes into its view; of that what policy allows as `commit` lands, and what
 * it asks about lands once a person has agreed. Nor does a command read in a repository what it could not read as a
 * file.
 */
import { LEAK_RULE } from "../../flow/flow.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { Zone, ZoneMap } from "../../model/place/zone.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { leadsOutside } from "../../names/link-target.ts";
import { admits } from "../../policy/lease-scope.ts";
import { COMMIT_ACTION } from "../../policy/terms/action.ts";
import { isTemporaryName } from "../../sandbox/files/places/temporary.ts";
import type { CommandEffect, Reach, ScopeJudge } from "../../sandbox/sandbox.ts";
import type { Granted, ResolvedAccess } from "../call/stages.ts";
import { evaluateRequests, requestsOf } from "../judge/decide.ts";
import { leasePathOf } from "../judge/scope.ts";
import { zoneNow } from "../judge/zone-now.ts";
import type { LossJudge } from "../keeping/losses.ts";
import { programQuestion } from "./handle-parts.ts";
import type { RepositoryHistories } from "./repository-history.ts";

/** A name that no file has: what holds for it holds for whatever is new. */
const NEW_NAME = "\u{10fffd}new";

/** Whether the managed directory in which `path` lies is one that this tool's commands are there to fill. */
function isManagedBy({ capability }: Pick<Tool, "capability">, zones: ZoneMap, path: string): boolean {
  const { manages = [] } = capability.execution ?? {};
  const parts = path.split("/");
  const outermost = parts.findIndex(
    (_, index) => zones.classify({ root: "service", path: parts.slice(0, index + 1).join("/") }) === "managed",
  );
  return manages.some((name) => name === parts[outermost]);
}

/** What may be written may land in one way at least. */
const COMMITS = ["create", "modify", "delete", "mode"] as const;

/** What else is known of an effect: the zone of its path, where it was looked at already, and of its command. */
interface EffectGround {
  readonly known?: Zone | undefined;
  /** Whether it has come to another machine. */
  readonly hasReached: boolean;
  /** It removes what nobody could bring back. */
  readonly isLost?: boolean;
}

/** What is known of a command while it runs. */
export interface CommandGround {
  /** Whether it has come to another machine by now. */
  readonly hasReached: () => boolean;
  readonly isLost: LossJudge;
}

/** An effect as policy is asked about it. */
export function commitAccess(
  { place }: Granted["caller"],
  { path, kind, isDirectory, bytes, isExecutable, linksTo, opens = false }: CommandEffect,
  { known, hasReached, isLost = false }: EffectGround,
): ResolvedAccess {
  const at: WorkspacePath = { root: "service", path };
  const outside = linksTo !== undefined && leadsOutside(path, linksTo);
  return {
    resource: { kind: "file", path },
    effect: "write",
    action: COMMIT_ACTION.name,
    target: { place: at, zone: known ?? zoneNow(place, at, "write") },
    arguments: {
      kind,
      directory: isDirectory,
      bytes,
      executable: isExecutable,
      reached: hasReached,
      outside,
      lost: isLost,
      opens,
    },
  };
}

/** The same, by what is known of its command now. */
export function effectAccess(
  caller: Granted["caller"],
  effect: CommandEffect,
  { hasReached, isLost }: CommandGround,
): ResolvedAccess {
  return commitAccess(caller, effect, { hasReached: hasReached(), isLost: isLost(effect) });
}

/** Judges the effects of a command, each by itself; of one whose zone is `known` that is not looked at again. */
function commitJudge(
  granted: Granted,
  { hasReached, isLost }: CommandGround,
): (effect: CommandEffect, known?: Zone) => "lands" | "asks" | "drops" {
  const { caller, tool, policy, holdings } = granted;
  const question = programQuestion(granted);
  return (effect, known) => {
    const access = commitAccess(caller, effect, { known, hasReached: hasReached(), isLost: isLost(effect) });
    const decided = evaluateRequests(policy, tool, requestsOf(question, [access]));
    if (!decided.ok) return "drops";
    // A person who agreed to the call after untrusted content agreed to it for each of its files.
    const isAnswered = ({ ruleId }: { readonly ruleId: string }) =>
      ruleId === LEAK_RULE && holdings.approval?.rules.has(LEAK_RULE) === true;
    const isArmed = ({ obligation }: { readonly obligation: string }) => obligation === "arm" && caller.armed;
    const due = decided.value.obligations.filter((one) => !isAnswered(one) && !isArmed(one));
    if (due.length === 0) return "lands";
    return due.every(({ obligation }) => obligation === "ask") ? "asks" : "drops";
  };
}

type CommitJudge = ReturnType<typeof commitJudge>;

/** Tells whether anything may land at a path, asked once for each zone where policy does not look at paths. */
function landingByZone(
  granted: Granted,
  commit: CommitJudge,
): (path: string, isDirectory: boolean, zone: Zone) => boolean {
  const { caller, policy } = granted;
  const question = programQuestion(granted);
  const landing = new Map<string, boolean>();
  return (path, isDirectory, zone) => {
    const key = `${isDirectory} ${zone}`;
    const before = landing.get(key);
    if (before !== undefined) return before;
    const effects = COMMITS.map((kind) => ({ path, kind, isDirectory, bytes: 0, isExecutable: false }));
    const may = effects.some((effect) => commit(effect, zone) !== "drops");
    const requests = effects.map(
      (effect) => requestsOf(question, [commitAccess(caller, effect, { known: zone, hasReached: false })])[0],
    );
    if (!requests.some((request) => policy.looksAtPath(request))) landing.set(key, may);
    return may;
  };
}

/** The judge of a call. */
export function execScope(
  granted: Granted,
  histories: Pick<RepositoryHistories, "hides">,
  ground: CommandGround,
): ScopeJudge {
  const { caller, tool, policy, holdings } = granted;
  const { zones } = caller.place.workspace;
  const { scope } = caller.lease;
  const byZone = new Map<string, boolean>();
  const question = programQuestion(granted);
  const commit = commitJudge(granted, ground);
  const mayLand = landingByZone(granted, commit);

  /** Policy is asked once for each zone where it does not look at paths. */
  const permits = (place: WorkspacePath, zone: Zone, effect: "read" | "write"): boolean => {
    const key = `${effect} ${zone}`;
    const before = byZone.get(key);
    if (before !== undefined) return before;
    const access: ResolvedAccess = { resource: { kind: "file", path: place.path }, effect, target: { place, zone } };
    const requests = requestsOf(question, [access]);
    const decided = evaluateRequests(policy, tool, requests);
    // A person who agreed to the call after untrusted content agreed to it for each of its files.
    const isAnswered = ({ ruleId }: { readonly ruleId: string }) =>
      ruleId === LEAK_RULE && holdings.approval?.rules.has(LEAK_RULE) === true;
    const allowed = decided.ok && decided.value.obligations.every(isAnswered);
    if (!policy.looksAtPath(requests[0])) byZone.set(key, allowed);
    return allowed;
  };
  const reach = (path: string, isDirectory: boolean): Reach => {
    const place: WorkspacePath = { root: "service", path };
    const zone = zoneNow(caller.place, place, "write");
    if (zone === "secret") return "hidden";
    // Nobody would see what lies in such a directory: no kernel makes one.
    if (isDirectory && isTemporaryName(path.slice(path.lastIndexOf("/") + 1))) return "hidden";
    // Builds and tests need what is installed, and the repository is read by many of them.
    if (zone === "managed" && isDirectory && (path === ".git" || path.endsWith("/.git")) && histories.hides(path))
      return "hidden";
    const restriction = zones.restriction(place);
    if (zone === "managed" && restriction === "installation") return "read";
    if (zone === "managed")
      return isManagedBy(tool, zones, path) && admits(scope, "writePaths", path) ? "write" : "read";
    const isReadable = admits(scope, "readPaths", leasePathOf(place)) && permits(place, zone, "read");
    // A directory that may not be read as such can hold what may; each of its files is asked about.
    if (!isReadable) return isDirectory ? "read" : "hidden";
    // What is protected for what lies beside it would be a part of a repository: no command makes one.
    const isPlain = (zone === "own" || zone === "protected") && zones.classify(place) === zone;
    const isOpen = isPlain && (restriction === undefined || restriction === "protected");
    const isWritable = isOpen && admits(scope, "writePaths", leasePathOf(place)) && permits(place, zone, "write");
    return isWritable && mayLand(path, isDirectory, zone) ? "write" : "read";
  };
  return {
    entry: reach,
    commit: (effect) => commit(effect),
    below: (directory) =>
      reach(directory === "." ? NEW_NAME : `${directory}/${NEW_NAME}`, false) === "write" ? "write" : "read",
    // What policy says of new files behind it would be said of other paths.
    allowsLink: (path) =>
      !zones.isAboveRule({ root: "service", path }) &&
      permits({ root: "service", path: `${path}/${NEW_NAME}` }, "own", "write"),
    hidesRepository: (directory) => histories.hides(directory),
    isWhole: (directory) => directory !== "." && zones.classify({ root: "service", path: directory }) === "managed",
  };
}
