/**
 * What a running tool holds: who calls, and handles on files, searches, content, commands, git and the machine, each made when the tool first
 * asks for it. A handle does what scope and policy decided, and judges again whatever turns up that was not decided.
 */
import { assert, KernelError } from "../../base/errors.ts";
import { MAX_WRITE_SIZE } from "../../base/limits.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, storeFailure } from "../../model/outcome/failure.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { FileAccess } from "../../model/place/files.ts";
import type { ReplyForm, ToolAudit, ToolContext } from "../../model/tool/tool.ts";
import type { ContentAccess } from "../../model/work/content.ts";
import type { ExecAccess } from "../../model/work/exec.ts";
import { type GitAccess, NO_REPOSITORY, type RepositoryView } from "../../model/work/git.ts";
import type { MachineAccess } from "../../model/work/machine.ts";
import type { SearchAccess } from "../../model/work/search.ts";
import { type ToolchainView, UNKNOWN_TOOLCHAIN } from "../../model/work/toolchain.ts";
import { createFileAccess } from "../../sandbox/files/files.ts";
import type { EgressAttempt } from "../../sandbox/sandbox.ts";
import type { Evidence } from "../answer/evidence.ts";
import { preImagesNow } from "../ask/bind-ask.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Waiter } from "../call/submission.ts";
import type { Caller, Trail } from "../call/trail.ts";
import type { Transfer } from "../call/transfer.ts";
import { unusable } from "../call/unusable.ts";
import { exactly, judgePlace, leavesReading, unanalysed } from "../judge/scope.ts";
import { withoutMarkers } from "../judge/secret-writes.ts";
import { zoneNow } from "../judge/zone-now.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import { withoutGuessing } from "../redaction/secret-guesses.ts";
import type { CallRules } from "./call-rules.ts";
import { createContentAccess } from "./content-access.ts";
import type { ExecParts } from "./exec-access.ts";
import { gitJudge, withoutNewFiles } from "./git-scope.ts";
import { createSearch } from "./search-access.ts";

/** The handles of one call; one object of one shape, because each call makes one. */
export class CallHandles implements ToolContext {
  readonly requestId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly agentId: string;
  readonly role: string;
  readonly serviceRoot: string;
  readonly projectRoot: string;
  readonly workDir: string;
  readonly isolationLevel: ToolContext["isolationLevel"];
  readonly allowedCommands: readonly string[] = NO_COMMANDS;
  readonly volumeId: string;
  readonly progress: ProgressListener;
  readonly signal: AbortSignal;
  readonly reply: ReplyForm;
  readonly #parts: KernelParts;
  readonly #evidence: Evidence;
  readonly #trail: Trail;
  readonly #caller: Caller;
  readonly #redaction: CallRedaction;
  readonly #rules: CallRules;
  readonly #transfer: Transfer | undefined;
  #accessToken: string | undefined;
  #files: FileAccess | undefined;
  #search: SearchAccess | undefined;
  #content: ContentAccess | undefined;
  #exec: ExecAccess | undefined;
  #machine: MachineAccess | undefined;
  #git: GitAccess | undefined;

  constructor(
    parts: KernelParts,
    evidence: Evidence,
    trail: Trail,
    rules: CallRules,
    { signal, transfer }: Waiter,
    progress: ProgressListener,
  ) {
    assert(trail.caller && trail.redaction, "handles are given to an authenticated call alone");
    const { session, place } = trail.caller;
    this.requestId = trail.requestId;
    this.sessionId = session.id;
    this.userId = session.userId;
    this.agentId = session.agentId;
    this.role = session.role;
    this.serviceRoot = session.serviceRoot;
    this.projectRoot = session.projectRoot;
    this.workDir = session.serviceRoot;
    this.isolationLevel = session.isolationLevel;
    this.volumeId = place.volumeId;
    this.progress = progress;
    this.signal = signal;
    this.reply = trail.call?.reply ?? "result";
    this.#parts = parts;
    this.#evidence = evidence;
    this.#trail = trail;
    this.#caller = trail.caller;
    this.#redaction = trail.redaction;
    this.#rules = rules;
    this.#transfer = transfer;
  }

  get accessToken(): string {
    this.#accessToken ??= Buffer.from(this.#parts.random(32)).toString("base64url");
    return this.#accessToken;
  }

  get approvals(): readonly string[] {
    return this.#trail.approval === undefined ? [] : [this.#trail.approval.id];
  }

  get files(): FileAccess {
    this.#files ??= filesOf(this.#parts, this.#evidence, this.#trail, this.#rules, this.signal);
    return this.#files;
  }

  get search(): SearchAccess {
    this.#search ??= createSearch({ parts: this.#parts, trail: this.#trail, caller: this.#caller, ...this.#rules, signal: this.signal });
    return this.#search;
  }

  get content(): ContentAccess {
    const judge = this.#rules.judgeArtifact;
    const [parts, trail, caller, transfer, signal] = [this.#parts, this.#trail, this.#caller, this.#transfer, this.signal];
    this.#content ??= createContentAccess({ parts, trail, caller, judge, transfer, signal });
    return this.#content;
  }

  get exec(): ExecAccess {
    this.#exec ??= execOf(this.#parts, this.#evidence, this.#trail, this.#rules, this.progress, this.signal);
    return this.#exec;
  }

  get machine(): MachineAccess {
    this.#machine ??= machineOf(this.#parts, this.#trail, this.#rules, this.progress, this.signal);
    return this.#machine;
  }

  get git(): GitAccess {
    this.#git ??= gitOf(this.#parts, this.#evidence, this.#trail, this.#rules, this.progress, this.signal);
    return this.#git;
  }

  get toolchain(): ToolchainView {
    return this.#trail.toolchain ?? (() => UNKNOWN_TOOLCHAIN);
  }

  get repository(): RepositoryView {
    return this.#trail.repository ?? (() => NO_REPOSITORY);
  }

  get hidden(): ToolContext["hidden"] {
    return (bytes) => this.#redaction.hidden(bytes);
  }

  get audit(): ToolAudit {
    return { log: (category, event, fields) => this.#evidence.note(this.#trail, category, event, fields) };
  }
}

const NO_COMMANDS: readonly string[] = [];

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
  const { newFiles } = parts;
  const recheck = () => requireAllowed(parts, trail, rules, signal);
  const recordAttempt = (attempt: EgressAttempt) => evidence.networkAttempt(trail, attempt);
  const gitRemotes = () => {
    assert(trail.redaction, "whatever runs is redacted");
    return parts.gitRemotes(trail.redaction.by);
  };
  return { sandbox: open, limits: limits(), policy, trail, recheck, report, signal, recordAttempt, gitRemotes, newFiles };
}

/** Git; the code that runs it is loaded with the first. */
function gitOf(...given: Parameters<typeof execPartsOf>): GitAccess {
  const [, , trail, { policy }] = given;
  const action = trail.accesses.find(({ resource }) => resource.kind === "git_ref")?.action;
  const judge = gitJudge(trail, policy, action, trail.receivedAtMs);
  return {
    judge: withoutNewFiles(judge),
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
      exactly(trail, target) ?? judgePlace(caller, tool, target, zoneNow(caller.place, target, effect), effect) ?? judge(target, effect),
    visible: (target) => {
      const zone = workspace.zones.classify(target);
      if (zone === "secret" || !leavesReading(caller, tool.name, target)) return false;
      // A managed directory is named, so that it is known to be there, and not entered.
      return zone === "managed" || judgeTree(target, zone);
    },
    locks: parts.locks,
    lockOwner: parts.instanceId,
    newFiles: parts.newFiles,
    clock: parts.clock,
    random: parts.random,
    signal,
    onLockBroken: (path, owner) => evidence.lockBroken(trail, path, owner).catch(parts.onInternalError),
    recheck: () => recheckOrRefuse(parts, recheck),
    ...(trail.approval && { requireApproved: trail.approval.targets.require }),
  });
  // What a tool did not say that it writes it cannot: what watches over writing would have nothing to do.
  if (!trail.accesses.some(({ effect }) => effect === "write")) return onlyAnalysed(access, trail);
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
