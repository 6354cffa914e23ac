/**
 * The only place where a tool is executed (choke point). It builds the tool's handles from what scope and policy
 * decided, and ends the call when it is cancelled.
 */

import { assert, KernelError } from "../base/errors.ts";
import { CANCEL_GRACE_MS, MAX_WRITE_SIZE } from "../base/limits.ts";
import type { ContentAccess } from "../model/content.ts";
import type { Denial, Verdict } from "../model/decision.ts";
import type { ExecAccess } from "../model/exec.ts";
import { FailureWithoutEffect, Refusal, storeFailure, ToolFailure } from "../model/failure.ts";
import type { FileAccess } from "../model/files.ts";
import { type GitAccess, NO_REPOSITORY } from "../model/git.ts";
import type { MachineAccess } from "../model/machine.ts";
import type { ProgressListener } from "../model/progress.ts";
import type { SearchAccess } from "../model/search.ts";
import type { ToolContext, ToolOutput } from "../model/tool.ts";
import { UNKNOWN_TOOLCHAIN } from "../model/toolchain.ts";
import type { PolicyEngine } from "../policy/policy.ts";
import { createFileAccess } from "../sandbox/files/files.ts";
import type { EgressAttempt } from "../sandbox/sandbox.ts";
import { preImagesNow } from "./bind-ask.ts";
import { brokenOff } from "./broken-off.ts";
import { type ArtifactJudge, createContentAccess } from "./content-access.ts";
import type { Evidence } from "./evidence.ts";
import type { ExecParts } from "./exec-access.ts";
import { followDeclared } from "./follow.ts";
import { gitJudge } from "./git-scope.ts";
import type { PolicyJudge, TreeJudge } from "./judges.ts";
import type { KernelParts } from "./parts.ts";
import { ProgressFeed } from "./progress.ts";
import { exactly, judgePlace, leavesReading, unanalysed } from "./scope.ts";
import { createSearch } from "./search-access.ts";
import { withoutGuessing } from "./secret-guesses.ts";
import { withoutMarkers } from "./secret-writes.ts";
import type { Waiter } from "./submission.ts";
import { invalidOutput } from "./tool-output.ts";
import type { Trail } from "./trail.ts";
import { unusable } from "./unusable.ts";

/** What was decided about the call, and how to ask again. */
export interface CallRules {
  readonly judge: PolicyJudge;
  /** The same for the many files of a tree. */
  readonly judgeTree: TreeJudge;
  readonly judgeArtifact: ArtifactJudge;
  readonly policy: PolicyEngine;
  /** Whether the call may still run now; asked after every wait. */
  readonly recheck: () => Promise<Verdict<undefined>>;
}

/** What came of running the tool: its output, its failure, or a refusal that only the machine could show. */
export type Ran =
  | { readonly kind: "output"; readonly output: ToolOutput }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "refusal"; readonly denial: Denial };

/** Runs the tool of `trail` with contained handles. Only bugs throw. */
export async function runTool(parts: KernelParts, evidence: Evidence, trail: Trail, rules: CallRules, waiter: Waiter): Promise<Ran> {
  const { signal, listener } = waiter;
  assert(trail.tool && trail.call && trail.caller && trail.redaction, "a tool runs only after every stage before it");
  if (signal.aborted) return cancelled();
  const feed = listener && new ProgressFeed(parts, listener, trail.redaction, trail.intent !== undefined);
  const context = contextOf(parts, evidence, trail, rules, waiter, feed?.report ?? nobodyListens);
  if (listener && trail.intent !== undefined) await followDeclared(parts, evidence, trail);
  trail.ran = true;
  try {
    const running = trail.tool.execute(trail.args, context);
    const output = running instanceof Promise ? await untilCancelled(running, signal) : running;
    trail.done = true;
    const invalid = invalidOutput(trail.tool.name, output);
    if (invalid === undefined) return { kind: "output", output };
    // What an effect left behind, nobody can say who cannot read what came of it.
    return trail.intent === undefined
      ? { kind: "refusal", denial: invalid }
      : { kind: "failure", failure: brokenOff("failed", invalid.message) };
  } catch (error) {
    if (error instanceof ToolFailure) {
      if (error.cause !== undefined) parts.onInternalError(error.cause);
      return { kind: "failure", failure: failureOf(error, trail) };
    }
    if (error instanceof Refusal) return { kind: "refusal", denial: error.denial };
    throw error;
  } finally {
    feed?.end();
  }
}

/** A failure that invites to try again does so only while nothing was changed. */
function failureOf(failure: ToolFailure, trail: Trail): ToolFailure {
  const isWithoutEffect = failure instanceof FailureWithoutEffect;
  if (trail.changes.any) return isWithoutEffect || failure.retryable ? brokenOff("failed", failure.message) : failure;
  if (isWithoutEffect) trail.unaffected = true;
  return failure;
}

function nobodyListens(): void {
  // A tool may always report; without a listener there is nobody to tell.
}

/** The running tool's result; after a cancellation it has a grace period to end by itself. */
async function untilCancelled<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(
        () =>
          reject(
            new ToolFailure(
              "OUTCOME_UNKNOWN",
              "the tool did not stop after it was cancelled",
              "check the state of the workspace before trying again",
            ),
          ),
        CANCEL_GRACE_MS,
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

function cancelled(): Ran {
  return {
    kind: "failure",
    failure: new ToolFailure("CANCELLED", "the call was cancelled before it ran", "send it again if it is still wanted"),
  };
}

function contextOf(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  rules: CallRules,
  { signal, transfer }: Waiter,
  progress: ProgressListener,
): ToolContext {
  const caller = trail.caller as NonNullable<Trail["caller"]>;
  const redaction = trail.redaction as NonNullable<Trail["redaction"]>;
  const { session, place } = caller;
  let accessToken: string | undefined;
  let files: FileAccess | undefined;
  let search: SearchAccess | undefined;
  let content: ContentAccess | undefined;
  let exec: ExecAccess | undefined;
  let machine: MachineAccess | undefined;
  let git: GitAccess | undefined;
  return {
    requestId: trail.requestId,
    sessionId: session.id,
    userId: session.userId,
    agentId: session.agentId,
    role: session.role,
    serviceRoot: session.serviceRoot,
    projectRoot: session.projectRoot,
    workDir: session.serviceRoot,
    isolationLevel: session.isolationLevel,
    allowedCommands: [],
    get accessToken() {
      accessToken ??= Buffer.from(parts.random(32)).toString("base64url");
      return accessToken;
    },
    volumeId: place.volumeId,
    approvals: trail.approval === undefined ? [] : [trail.approval.id],
    get files() {
      files ??= filesOf(parts, evidence, trail, rules, signal);
      return files;
    },
    get search() {
      search ??= createSearch({ parts, trail, caller, ...rules, signal });
      return search;
    },
    get content() {
      content ??= createContentAccess({ parts, trail, caller, judge: rules.judgeArtifact, transfer, signal });
      return content;
    },
    get exec() {
      exec ??= execOf(parts, evidence, trail, rules, progress, signal);
      return exec;
    },
    get machine() {
      machine ??= machineOf(parts, trail, rules, progress, signal);
      return machine;
    },
    get git() {
      git ??= gitOf(parts, evidence, trail, rules, progress, signal);
      return git;
    },
    toolchain: trail.toolchain ?? (() => UNKNOWN_TOOLCHAIN),
    repository: trail.repository ?? (() => NO_REPOSITORY),
    hidden: (bytes) => redaction.hidden(bytes),
    audit: { log: (category, event, fields) => evidence.note(trail, category, event, fields) },
    progress,
    signal,
    reply: trail.call?.reply ?? "result",
  };
}

/** Commands; the code that runs them is loaded with the first. */
function execOf(...given: Parameters<typeof execPartsOf>): ExecAccess {
  return {
    async run(request) {
      const { createExec } = await import("./exec-access.ts");
      return createExec(execPartsOf(...given)).run(request);
    },
  };
}

function execPartsOf(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  rules: CallRules,
  report: ProgressListener,
  signal: AbortSignal,
): ExecParts {
  const { limits, open } = parts.sandbox;
  const { policy } = rules;
  const recheck = () => requireAllowed(parts, trail, rules, signal);
  const recordAttempt = (attempt: EgressAttempt) => evidence.networkAttempt(trail, attempt);
  const gitRemotes = () => {
    assert(trail.redaction, "whatever runs is redacted");
    return parts.gitRemotes(trail.redaction.by);
  };
  return { sandbox: open, limits: limits(), policy, trail, recheck, report, signal, recordAttempt, gitRemotes };
}

/** Git; the code that runs it is loaded with the first. */
function gitOf(...given: Parameters<typeof execPartsOf>): GitAccess {
  const [, , trail, { policy }] = given;
  const action = trail.accesses.find(({ resource }) => resource.kind === "git_ref")?.action;
  const judge = gitJudge(trail, policy, action, trail.receivedAtMs);
  return {
    judge,
    async run(request) {
      const { runGit } = await import("./git-access.ts");
      return runGit(execPartsOf(...given), judge, request);
    },
  };
}

/** Ends the call unless it may still run, on what it was approved for. */
async function requireAllowed(parts: KernelParts, trail: Trail, { policy, recheck }: CallRules, signal: AbortSignal): Promise<void> {
  const denial = await recheckOrRefuse(parts, recheck);
  if (denial) throw new Refusal(denial);
  const { approval, caller } = trail;
  if (approval && caller) await approval.targets.requireAll(() => preImagesNow(parts, trail, caller, policy, signal));
}

/** The machine itself; the code that reaches for it is loaded with the first use. */
function machineOf(parts: KernelParts, trail: Trail, rules: CallRules, report: ProgressListener, signal: AbortSignal): MachineAccess {
  const recheck = () => requireAllowed(parts, trail, rules, signal);
  const load = async () => {
    const { createMachineAccess } = await import("./machine-access.ts");
    return createMachineAccess({ machine: parts.machine, trail, recheck, report, signal });
  };
  return { run: async (command) => (await load()).run(command), find: async (name) => (await load()).find(name) };
}

/** File access that judges again whatever was really opened: zones, lease and policy. */
function filesOf(
  parts: KernelParts,
  evidence: Evidence,
  trail: Trail,
  { judge, judgeTree, recheck }: CallRules,
  signal: AbortSignal,
): FileAccess {
  const { caller, tool, redaction } = trail;
  assert(caller && tool && redaction, "files are handed out only to an authenticated call");
  const { workspace, roots } = caller.place;
  const access = createFileAccess({
    workspace,
    roots,
    judge: (target, effect) =>
      exactly(trail, target) ?? judgePlace(caller, tool, target, workspace.zones.classify(target), effect) ?? judge(target, effect),
    visible: (target) => {
      const zone = workspace.zones.classify(target);
      if (zone === "secret" || !leavesReading(caller, tool.name, target)) return false;
      // A managed directory is named, so that it is known to be there, and not entered.
      return zone === "managed" || judgeTree(target, zone);
    },
    locks: parts.locks,
    lockOwner: parts.instanceId,
    clock: parts.clock,
    random: parts.random,
    signal,
    onLockBroken: (path, owner) => evidence.lockBroken(trail, path, owner).catch(parts.onInternalError),
    recheck: () => recheckOrRefuse(parts, recheck),
    ...(trail.approval && { requireApproved: trail.approval.targets.require }),
  });
  const hidden = (bytes: Uint8Array) => redaction.hidden(bytes);
  const watched = withoutGuessing(access, { guesses: parts.guesses, guesser: caller.session, hidden, nowMs: parts.clock.nowMs });
  const approved = trail.approval?.targets.following(watched) ?? watched;
  return onlyAnalysed(withoutMarkers(approved, MAX_WRITE_SIZE), trail);
}

/** A re-check that cannot be made denies as well: the handle that asks has not touched anything yet. */
async function recheckOrRefuse(parts: KernelParts, recheck: CallRules["recheck"]): Promise<Denial | undefined> {
  try {
    const verdict = await recheck();
    return verdict.ok ? undefined : verdict.denial;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    const failure = storeFailure(error);
    if (failure) throw failure;
    const denial = unusable(error);
    if (denial === undefined) throw error;
    parts.onInternalError(error);
    return denial;
  }
}

/** A tool may touch only what its analysis named: what was not analysed was never judged. */
function onlyAnalysed(access: FileAccess, trail: Trail): FileAccess {
  const named = (path: string, ...effects: readonly ("read" | "write")[]) => {
    for (const effect of effects) {
      const analysed = trail.accesses.some(
        ({ resource, effect: declared }) => resource.kind === "file" && resource.path === path && declared === effect,
      );
      if (!analysed) throw new Refusal(unanalysed(trail.call?.tool ?? "", effect));
    }
  };
  return {
    read: (path, options) => {
      named(path, "read");
      return access.read(path, options);
    },
    stream: (path, options) => {
      named(path, "read");
      return access.stream(path, options);
    },
    list: async (path, options) => {
      named(path, "read");
      return access.list(path, options);
    },
    write: async (path, content, options) => {
      named(path, "write");
      return trail.changes.during(() => access.write(path, content, options));
    },
    remove: async (path) => {
      named(path, "write");
      return trail.changes.during(() => access.remove(path));
    },
    transform: async (path, bytesMax, transform) => {
      named(path, "read", "write");
      return trail.changes.during(() => access.transform(path, bytesMax, transform));
    },
  };
}
