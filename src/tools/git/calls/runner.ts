/**
 * Runs git for one call, and says what went wrong in a form that an agent can act on.
 *
 * INVARIANT: a file that the call may not read is in no answer: it is left out by its name, which git itself gave.
 */

import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect, ToolFailure } from "../../../model/outcome/failure.ts";
import type { NotKeptReason } from "../../../model/work/exec.ts";
import {
  changesView,
  type GitAccess,
  type GitOutcome,
  type GitReach,
  type GitRequest,
} from "../../../model/work/git.ts";
import type { GitRemoteReach } from "../../../model/work/git-remote.ts";
import { shownName } from "./names.ts";
import { toWorkspace, without } from "./places.ts";

/** Files that a command can leave out by name, and that are staged by one command. */
export const GIT_PATHS_PER_RUN_MAX = 1000;
/** Files or settings that a message names one by one. */
const GIT_NAMED_MAX = 20;

/** A file that a call may not touch. `hidden`: not even its name is for whoever calls. */
export interface Closed {
  readonly path: string;
  readonly why: string;
  readonly hidden: boolean;
}

/** Git in one repository. */
export interface Runner {
  /** @throws ToolFailure when it did not end well */
  readonly run: (reach: GitReach, args: readonly [string, ...string[]], remote?: GitRemoteReach) => Promise<string>;
  /** The same whatever the exit code. */
  readonly try: (reach: GitReach, args: readonly [string, ...string[]], remote?: GitRemoteReach) => Promise<GitOutcome>;
  /** Fields that null bytes end. */
  readonly fields: (args: readonly [string, ...string[]]) => Promise<readonly string[]>;
  /** Why a file of the repository may not be read, written, or made a link. */
  readonly judge: (path: string, effect: "read" | "write" | "link") => Omit<Closed, "path"> | undefined;
  /** Repositories within the tree that were seen so far, from the repository's root. */
  readonly nested: () => readonly string[];
}

/** The runner of a call. */
export function runnerOf(access: GitAccess, root: string): Runner {
  const nested = new Set<string>();
  const judge: Runner["judge"] = (path, effect) => {
    const place = toWorkspace(root, path);
    const denial = access.judge(place, effect);
    if (denial === undefined) return undefined;
    const hidden = effect === "read" || access.judge(place, "read") !== undefined;
    return { why: denial.message, hidden };
  };
  const attempt = async (
    reach: GitReach,
    args: readonly [string, ...string[]],
    remote?: GitRemoteReach,
  ): Promise<GitOutcome> => {
    const once = () => access.run({ args, reach, root, ...(remote && { remote }) });
    let outcome = await once();
    // Nothing has changed, and what somebody did meanwhile is there now.
    for (let tries = 1; tries < TRIES_MAX && remote === undefined && isLate(outcome); tries += 1)
      outcome = await once();
    for (const path of outcome.nested) nested.add(root === "." ? path : path.slice(root.length + 1));
    requireKept(args[0], outcome, { root, judge });
    return outcome;
  };
  const run = async (
    reach: GitReach,
    args: readonly [string, ...string[]],
    remote?: GitRemoteReach,
  ): Promise<string> => {
    const outcome = await attempt(reach, args, remote);
    if (outcome.exitCode !== 0 || outcome.endedBy !== undefined || outcome.exceeded !== undefined)
      throw failureOf(
        args[0],
        outcome,
        reach === "nothing" || isDropped(outcome, { reach, ...(remote && { remote }) }),
      );
    return textOf(outcome.stdout);
  };
  return {
    run,
    try: attempt,
    fields: async (args) => (await run("nothing", args)).split("\0").slice(0, -1),
    judge,
    nested: () => [...nested],
  };
}

/** Whether git had a view, and nothing of it has landed. */
function isDropped({ notKept }: GitOutcome, request: Pick<GitRequest, "reach" | "remote">): boolean {
  return changesView(request) && notKept === undefined;
}

/** Times that a run is tried whose files somebody else changed meanwhile. */
const TRIES_MAX = 3;

function isLate({ notKept = [] }: GitOutcome): boolean {
  return notKept.some(({ reason }) => reason === "changed_meanwhile");
}

/** @throws ToolFailure where something may not be changed, so that nothing was */
function requireKept(
  command: string,
  outcome: GitOutcome,
  { root, judge }: Pick<Runner, "judge"> & { readonly root: string },
): void {
  const { notKept = [] } = outcome;
  if (isLate(outcome))
    throw new FailureWithoutEffect(
      "RESOURCE_BUSY",
      `somebody else changed what git ${command} was to change, again and again; nothing was changed`,
      "try again later",
    );
  const closed = notKept.flatMap(({ path, reason }): readonly Closed[] => {
    if (reason === "held_back") return []; // because of another one
    const own = root === "." ? path : path.slice(root.length + 1);
    return [{ path: own, ...(judge(own, "write") ?? judge(own, "link") ?? { why: UNFIT[reason], hidden: false }) }];
  });
  refuseClosed(
    closed,
    `git ${command} would change`,
    "ask a person to do it, or choose commits that do not touch those files",
  );
}

/** Why a path cannot be changed that the call might change by itself. */
const UNFIT: Readonly<Record<NotKeptReason, string>> = {
  not_allowed: "with what lies beside it, it would be a repository of its own",
  unusable_name: "it is longer or deeper than a workspace takes, or not UTF-8",
  not_approved: "a person was asked and did not agree",
  not_a_file: "it is no file",
  changed_meanwhile: "somebody else has changed it",
  held_back: "another file could not be changed",
  owner_not_kept: "it belongs to another user or group, which could not be kept",
  failed: "the machine refused it",
};

/** @throws ToolFailure where it is not UTF-8: a name that cannot be written out cannot be judged either */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

/** Names with bytes that are no text cannot be named again to leave them out. */
export function requireText(paths: readonly string[]): void {
  const strange = paths.find((path) => path.includes("\u{fffd}"));
  if (strange !== undefined)
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `the repository has a path that is not UTF-8 (\`${shownName(strange)}\`), which cannot be judged`,
      "name the paths that you want",
    );
}

/** Those of `paths` that may be touched, and the others with the reason. */
export function sorted(
  git: Pick<Runner, "judge" | "nested">,
  paths: readonly string[],
  effect: "read" | "write",
): { readonly open: readonly string[]; readonly closed: readonly Closed[] } {
  requireText(paths);
  const nested = git.nested();
  const open: string[] = [];
  const closed: Closed[] = [];
  for (const path of new Set(paths)) {
    const inner = nested.find((directory) => path === directory || path.startsWith(`${directory}/`));
    const judged = inner === undefined ? git.judge(path.replace(/\/$/, ""), effect) : entered(inner);
    if (judged === undefined) open.push(path);
    else closed.push({ path, ...judged });
  }
  return { open, closed };
}

function entered(directory: string): Omit<Closed, "path"> {
  return { why: `\`${shownName(directory)}\` is a repository of its own, which is not entered`, hidden: false };
}

/** Arguments that leave `closed` out. @throws ToolFailure when they are too many */
export function leftOut(closed: readonly { readonly path: string }[]): readonly string[] {
  if (closed.length > GIT_PATHS_PER_RUN_MAX)
    throw new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `more than ${GIT_PATHS_PER_RUN_MAX} of the files concerned may not be shown to this call`,
      "name the paths that you want",
    );
  return closed.map(({ path }) => without(path));
}

/** What is said of files that were left out: how many, and the names of those that are no secret, with the reason. */
export function leftOutFacts(closed: readonly Closed[]): JsonObject {
  if (closed.length === 0) return {};
  const named = closed.filter(({ hidden }) => !hidden).slice(0, GIT_NAMED_MAX);
  return {
    left_out: closed.length,
    ...(named.length > 0 && { left_out_files: named.map(({ path, why }) => ({ path, why })) }),
  };
}

/** Refuses before anything is changed. */
export function refuseClosed(closed: readonly Closed[], what: string, next: string): void {
  if (closed.length === 0) return;
  const named = closed.filter(({ hidden }) => !hidden);
  const shown = named.slice(0, GIT_NAMED_MAX).map(({ path }) => `\`${shownName(path)}\``);
  const unnamed = closed.length - shown.length;
  const others = unnamed === 0 ? [] : [`${unnamed} ${shown.length > 0 ? "more" : "out of reach"}`];
  const [first] = named;
  const why = first === undefined ? "" : `: ${first.why}`;
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `${what} files that this call may not write (${[...shown, ...others].join(", ")})${why}`,
    next,
  );
}

/** A failure of git's as the tool's. @param isWithoutEffect whether nothing of it stands */
export function failureOf(command: string, outcome: GitOutcome, isWithoutEffect: boolean): ToolFailure {
  const { stderr, stdout, endedBy, refusedHosts } = outcome;
  const said = (stderr.trim() === "" ? Buffer.from(stdout.subarray(0, 4000)).toString("utf8") : stderr).trim();
  const message = messageOf(said, command);
  const Kind = isWithoutEffect ? FailureWithoutEffect : ToolFailure;
  const bound = boundFailure(command, outcome, said);
  if (bound !== undefined) return bound;
  if (endedBy === "timeout")
    return new ToolFailure(
      "TIMEOUT",
      `git ${command} was ended because it took too long`,
      "name paths or fewer commits",
    );
  if (endedBy === "cancelled")
    return new ToolFailure("CANCELLED", `git ${command} was cancelled`, "look at the status before going on");
  const [host] = refusedHosts;
  if (host !== undefined)
    return new Kind(
      "GIT_FAILED",
      `\`${host.host}:${host.port}\` was not reached (${host.reason}): ${message}`,
      adviceFor(host.reason),
    );
  for (const [expression, code, suggestion] of KNOWN)
    if (expression.test(said)) return new Kind(code, message, suggestion);
  return new Kind("GIT_FAILED", message, "look at the status, and at what git says");
}

/** A run that needed more than it may have; the setting that bounds it is named. */
function boundFailure(command: string, { endedBy, exceeded }: GitOutcome, said: string): ToolFailure | undefined {
  const failure = (what: string, setting: string): ToolFailure =>
    new ToolFailure(
      "GIT_FAILED",
      `git ${command} was ended, because ${what}`,
      `ask for less, as with \`--depth 1\`, another branch or fewer commits, or ask the operator for a larger \`${setting}\``,
    );
  if (exceeded !== undefined) {
    const verb = exceeded.setting === "received_mb" ? "the remote sent" : "it wrote";
    const setting = `git.limits.${exceeded.setting}`;
    return failure(`${verb} more than ${exceeded.bytesMax / 2 ** 20} MiB, which \`${setting}\` allows`, setting);
  }
  if (endedBy === "memory" || NO_MEMORY.test(said))
    return failure("it needed more memory than it may use", "sandbox.memory_mb");
  if (TOO_LARGE.test(said)) return failure("a file would have been larger than it may be", "sandbox.file_mb");
  return undefined;
}

const NO_MEMORY = /out of memory|Cannot allocate memory|died of signal 9\b/i;
/** SIGXFSZ is 25 wherever there are sandboxes. */
const TOO_LARGE = /File too large|died of signal 25\b|EFBIG/i;

/** What to do about a host that was not reached. */
function adviceFor(reason: string): string {
  const isNear = /^address_(?:private|shared|own_network|loopback)$/.test(reason);
  return isNear
    ? "only servers of the public internet are reached; ask the operator to name host and port under `git.private_hosts`"
    : "look at the remote's address with REMOTE -v";
}

const KNOWN: readonly (readonly [RegExp, "RESOURCE_BUSY" | "FILE_NOT_FOUND" | "GIT_FAILED", string])[] = [
  [/\.lock': File exists/, "RESOURCE_BUSY", "another git is at work; if none is, ask a person to remove the lock"],
  [
    /not something we can merge|unknown revision|bad revision|Needed a single revision|invalid reference|invalid object name|not a valid (?:object|ref|branch)/i,
    "FILE_NOT_FOUND",
    "list what there is with BRANCH or LOG, and name that",
  ],
  [/did not match any file/, "FILE_NOT_FOUND", "look at the status for the names of files"],
  [
    /would be overwritten|local changes/i,
    "GIT_FAILED",
    "commit the changes, or put them aside with STASH, and try again",
  ],
  [
    /CONFLICT|conflict|unmerged|needs merge/i,
    "GIT_FAILED",
    "look at the status: edit the files in conflict, ADD them, then go on with --continue, or give up with --abort",
  ],
  [/no upstream|no tracking/i, "GIT_FAILED", "name the remote and the branch"],
  [
    /non-fast-forward|fetch first|rejected/i,
    "GIT_FAILED",
    "fetch, bring the other side's commits into yours, and push again",
  ],
  [
    /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled/i,
    "GIT_FAILED",
    "the remote wants a credential, or another one; ask the operator to name it under `git.credentials`",
  ],
  [
    /returned error: 40[134]|repository .* not found/i,
    "GIT_FAILED",
    "the remote does not have it, or not for the operator's credential; look at the address with REMOTE -v, or ask the operator",
  ],
  [
    /returned error: 30[12378]/i,
    "GIT_FAILED",
    "the server names another address, which is not followed; use the one that it has now",
  ],
  [/Operation too slow/i, "GIT_FAILED", "the remote said nothing for too long; try again later"],
  [/shallow/i, "GIT_FAILED", "the clone has only the newest commits; FETCH --unshallow brings the rest"],
];

/** What git said, in one line or few; its advice names commands that are not there. */
function messageOf(said: string, command: string): string {
  const lines = said
    .split("\n")
    .map((line) => line.replace(/^(?:fatal|error): /, "").trimEnd())
    .filter((line) => line !== "" && !line.startsWith("hint:") && !/^\(use "git /.test(line.trim()));
  const text = lines.slice(0, 12).join("\n").slice(0, 2000);
  return text === "" ? `git ${command} failed and said nothing` : `git ${command}: ${text}`;
}
