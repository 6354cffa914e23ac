/**
 * Runs the analysed commands of a call in its own scope, and redacts their output.
 *
 * Nobody sees the output before it is redacted.
 *
 * INVARIANTS: Only the command that analysis named runs, so policy saw it. Output is redacted as a whole or with a
 * margin, so no cut hides a secret. Everything is asked again right before the command begins.
 */

import { MAX_TIMEOUT_MS } from "../../base/limits.ts";
import { inSlices } from "../../base/long-steps.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import { commandOf } from "../../model/place/command.ts";
import { belowAlias } from "../../model/place/workspace.ts";
import type {
  ExecAccess,
  ExecCommand,
  ExecOutcome,
  ExecRequest,
  ExecSelection,
  LandedEffect,
  ReachedHost,
} from "../../model/work/exec.ts";
import { requireMountRoom } from "../../sandbox/bwrap/mount-room.ts";
import { makeFilledDirectories } from "../../sandbox/files/places/filled-directories.ts";
import { rootPath } from "../../sandbox/files/places/roots.ts";
import { requireDirectory } from "../../sandbox/files/places/working-directory.ts";
import { signalOfExitCode } from "../../sandbox/run/signals.ts";
import {
  type CommandEffect,
  type EgressAttempt,
  INSIDE_WORKSPACE,
  insideWorkspace,
  type SandboxEnd,
  type ScopeJudge,
} from "../../sandbox/sandbox.ts";
import { effectsFact, noteCommand } from "../answer/exec-record.ts";
import { type AskedEffects, reviewEffects } from "../ask/review.ts";
import type { Running } from "../call/stages.ts";
import { unanalysed } from "../judge/scope.ts";
import { keepingOf } from "../keeping/call-keeping.ts";
import { lossesOf } from "../keeping/losses.ts";
import { ShownOutput } from "../redaction/shown-output.ts";
import { commandEgress } from "./exec-egress.ts";
import { effectAccess, execScope } from "./exec-scope.ts";
import type { HandleParts } from "./handle-parts.ts";
import { RepositoryHistories } from "./repository-history.ts";
import { requireAllowed } from "./still-allowed.ts";
import type { CommandSecrets } from "./web/secret-access.ts";

/** Milliseconds that a command may run when the call does not say. */
export const EXEC_TIMEOUT_MS = 120_000;
/**
 * Bytes of each end of each stream of a command's output that are kept: 50,000 characters, however long each is, so
 * that a tool can show 100,000 of one stream alone.
 */
export const EXEC_KEPT_BYTES = 200_000;

/** Commands for one call. */
export function createExec(handle: HandleParts): ExecAccess {
  return {
    async run(request) {
      const { outcome, unlanded } = await handle.running.run.changes.during(
        () => run(handle, request),
        // what a command did to other machines has happened, whatever lands
        (ran) => ran.unlanded === undefined || (ran.outcome.network?.allowed ?? 0) > 0,
      );
      if (unlanded === undefined) return outcome;
      throw unlanded instanceof ToolFailure ? unlanded : new Refusal(unlanded);
    },
  };
}

/** A command that ran, and why nothing of what it changed has landed: a person has yet to agree, or it failed. */
interface Ran {
  readonly outcome: ExecOutcome;
  readonly unlanded?: Denial | ToolFailure | undefined;
}

/** The scratch directory of the session, where a sandbox can show it. */
function scratchOf({ running }: HandleParts, isContained: boolean): { readonly scratch?: string } {
  const { scratch } = running.caller.place.roots;
  return scratch === undefined || !isContained ? {} : { scratch: rootPath(scratch.open()) };
}

/** Asks about what a command has changed. @param onLater told why there is no answer yet */
async function reviewed(
  handle: HandleParts,
  asked: Omit<AskedEffects, "granted">,
  onLater: (why: Denial | ToolFailure) => void,
) {
  const said = await reviewEffects(handle.kernel, { granted: handle.running, ...asked }, handle);
  if (said.answer === "later") onLater(said.why);
  else await requireAllowed(handle); // a person took their time
  return said.answer;
}

async function run(handle: HandleParts, request: ExecRequest): Promise<Ran> {
  const { kernel, running, signal, report } = handle;
  const { caller, redaction } = running;
  const { parts } = kernel;
  const boundsOfOne = parts.sandbox.limits();
  requireAnalysed(running, request.command);
  const sandbox = await parts.sandbox.open();
  const egress = await egressOf(handle, request, sandbox.isContained);
  if (!sandbox.isContained) requireNoSandbox(running);
  await requireAllowed(handle);
  const { selection } = request;
  const workDir = selection?.workDir ?? insideOf(request.workDir);
  const histories = new RepositoryHistories(caller, running.receivedAtMs);
  let [hidden, effects]: [readonly string[], readonly LandedEffect[]] = [[], []];
  let awaited: Ran["unlanded"];
  const reached = () => egress?.reached() ?? [];
  const hasReached = () => reached().some(({ allowed }) => allowed > 0);
  const ground = { hasReached, isLost: lossesOf(parts.history) };
  const judge = execScope(running, histories, ground);
  const accessesOf = (effect: CommandEffect) => [effectAccess(caller, effect, ground)];
  if (selection === undefined && workDir !== INSIDE_WORKSPACE)
    requireDirectory(caller.place.roots, workDir.slice(INSIDE_WORKSPACE.length + 1));
  const output = new ShownOutput(request.keptBytesMax ?? EXEC_KEPT_BYTES, report);
  const start = () =>
    sandbox.run(
      {
        root: rootPath(caller.place.roots.service),
        judge,
        async settle(tookTime) {
          const again = sandbox.isContained && (await histories.settle(sandbox, boundsOfOne, signal));
          if (histories.hasWaited || tookTime) await requireAllowed(handle);
          return again;
        },
        landing: {
          newFiles: parts.newFiles,
          keeping: keepingOf(parts, running),
          onLanded: (landed) => {
            effects = landed;
          },
          async before() {
            // what lands is judged by the same rules and is none of what the command did not see
            hidden = histories.hidden();
            await requireAllowed(handle);
          },
          review: (effects, open) => {
            const asked = { effects, open, accessesOf, reached: reached() };
            return reviewed(handle, asked, (why) => {
              awaited = why;
            });
          },
        },
        command: argumentsOf(request.command),
        workDir,
        ...withSecrets(request, egress?.secrets),
        limits: { ...boundsOfOne, timeoutMs: timeoutOf(request) },
        ...(egress && { egress: egress.grant }),
        ...(selection === undefined ? scratchOf(handle, sandbox.isContained) : { selection }),
      },
      output.takers,
      signal,
    );
  const end = await (selection === undefined ? start() : whileFilled(handle, { judge, selection }, start));
  running.run.noteSandbox({ ...end.enforced, namespaces: [...end.enforced.namespaces] });
  const network = end.egress && (await egress?.outcome(end.egress));
  const shown = shownOutcome(end, output, redaction);
  await note(handle, shown, { effects, hosts: reached() });
  if (end.problem?.code === "OUTCOME_UNKNOWN") throw end.problem;
  const more = { ...(hidden.length > 0 && { hiddenRepositories: hidden }), ...(network && { network }) };
  return { outcome: { ...shown.outcome, ...more }, unlanded: end.problem ?? awaited };
}

/** Notes what a command did, for the outcome of its call. */
async function note(
  { kernel, running }: HandleParts,
  { outcome, secrets }: ReturnType<typeof shownOutcome>,
  did: { readonly effects: readonly LandedEffect[]; readonly hosts: readonly ReachedHost[] },
): Promise<void> {
  const { run, redaction, caller } = running;
  const recording = effectsFact(did.effects, kernel.parts.argumentsKey);
  const { result: effects } = await inSlices("recording what landed", recording);
  noteCommand(run, outcome, { effects, hosts: shownHosts(did.hosts, redaction), secrets, label: caller.mark });
}

/** The way out of a command, and the secrets that its requests are made with where something contains it. */
async function egressOf(handle: HandleParts, { hosts }: ExecRequest, isContained: boolean) {
  if (hosts === undefined) return undefined;
  const { kernel, running } = handle;
  const egress = commandEgress(running, hosts, (attempt: EgressAttempt) =>
    kernel.evidence.networkAttempt(running, attempt),
  );
  // most operators name no secrets, and need not load what makes requests with them
  if (!isContained || kernel.parts.secrets.brokerBy(running.redaction.by) === undefined)
    return { ...egress, secrets: undefined };
  const { commandSecrets } = await import("./web/secret-access.ts");
  const secrets = await commandSecrets(handle, hosts);
  return { ...egress, grant: { ...egress.grant, ...(secrets && { secrets: secrets.way }) }, secrets };
}

/** What a command sees of its secrets, over which it may set values of its own, and by what it believes the proxy. */
function withSecrets({ environment }: ExecRequest, secrets: CommandSecrets | undefined) {
  if (secrets === undefined) return { environment: environment ?? {} };
  return { environment: { ...secrets.variables, ...environment, ...secrets.trust }, files: secrets.files };
}

/** What came of the command, and how often each rule has found a secret in its output. */
function shownOutcome(end: SandboxEnd, output: ShownOutput, redaction: Running["redaction"]) {
  const before = redaction.rules;
  const outcome = outcomeOf(end, output.shown(redaction));
  return { outcome, secrets: countedSince(before, redaction.rules) };
}

function countedSince(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const counts = Object.entries(now).map(([rule, count]) => [rule, count - (before[rule] ?? 0)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function shownHosts(hosts: readonly ReachedHost[], redaction: Running["redaction"]): readonly ReachedHost[] {
  return hosts.map((one) => ({ ...one, host: redaction.words(one.host) }));
}

/** Makes the directories that a command fills for as long as it runs; those that it leaves empty go again. */
async function whileFilled(
  { kernel, running, signal }: HandleParts,
  { judge, selection }: { readonly judge: ScopeJudge; readonly selection: ExecSelection },
  start: () => Promise<SandboxEnd>,
): Promise<SandboxEnd> {
  requireWritable(judge, selection);
  const { roots, workspace } = running.caller.place;
  const { made, release } = makeFilledDirectories(roots, selection.directories, kernel.parts.newFiles);
  try {
    const { length: count } = made.filter((path) => judge.isWhole(path));
    if (count > 0) await requireMountRoom({ root: rootPath(roots.service), zones: workspace.zones, count }, signal);
    return await start();
  } finally {
    release();
  }
}

/** The call may write every directory that its command fills. */
function requireWritable(judge: ScopeJudge, { directories }: ExecSelection): void {
  const closed = directories.find(({ path }) => judge.entry(path, true) !== "write");
  if (closed === undefined) return;
  throw new FailureWithoutEffect(
    "PERMISSION_DENIED",
    `the command fills \`${closed.path}\`, which this call may not write; it did not run`,
    "ask for a lease whose write paths cover that directory",
  );
}

/** A tool that says nothing demands a sandbox, too. */
function requireNoSandbox({ tool }: Running): void {
  const demanded = tool.capability.execution?.sandbox ?? "process";
  if (demanded === "none") return;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `\`${tool.name}\` runs commands in a sandbox alone (\`sandbox: ${demanded}\`), and this kernel has none; the command did not run`,
    "ask the operator for another `sandbox.backend` in handrail.yaml, or to say `sandbox: none` for this tool under `capabilities`",
  );
}

/**
 * A program with its arguments is named by the line that it makes; a text for the shell by itself, as the call brought
 * it.
 */
function requireAnalysed({ accesses, tool, call }: Running, command: ExecCommand): void {
  const named = accesses.flatMap(({ resource, shellText }) =>
    resource.kind === "command" ? [{ line: resource.line, shellText }] : [],
  );
  const isNamed =
    "shell" in command
      ? named.some(({ shellText }) => shellText === command.shell) &&
        Object.values(call.arguments).includes(command.shell)
      : named.some(({ line }) => line === commandOf(command.argv).line);
  if (!isNamed) throw new Refusal(unanalysed(tool.name, "exec"));
}

function argumentsOf(command: ExecCommand): readonly [string, ...string[]] {
  return "shell" in command ? ["bash", "--noprofile", "--norc", "-c", command.shell] : command.argv;
}

/** A directory of the service, as it was judged before. */
function insideOf(workDir = "."): string {
  const path = (belowAlias(workDir) ?? workDir).replace(/^\/+/, "");
  return insideWorkspace(path === "" ? "." : path);
}

function timeoutOf({ timeoutMs = 0 }: ExecRequest): number {
  return timeoutMs === 0 ? EXEC_TIMEOUT_MS : Math.min(timeoutMs, MAX_TIMEOUT_MS);
}

function outcomeOf(end: SandboxEnd, shown: Pick<ExecOutcome, "stdout" | "stderr">): ExecOutcome {
  const { exitCode, endedBy, usage, enforced, durationMs, landed } = end;
  const signal = signalOfExitCode(exitCode);
  return {
    ...shown,
    durationMs,
    enforced,
    ...(landed && { landed }),
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(endedBy !== undefined && { endedBy }),
    ...(usage && { usage }),
  };
}
