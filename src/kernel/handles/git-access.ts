/**
 * Runs git for a call in the sandbox, by the call's scope.
 *
 * Git gets an environment of the kernel's own.
 *
 * INVARIANTS: Git runs only where analysis named a git reference, so lease and policy judged the operation. The
 * settings that git sees are those of a closed list, unless a run is there to change them and they hold nothing else.
 * Output is bounded, and never cut unseen.
 */

import { KIB, MIB } from "../../base/bytes.ts";
import { assert, KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { MAX_TIMEOUT_MS } from "../../base/limits.ts";
import { inSlices } from "../../base/long-steps.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { ExecNetwork } from "../../model/work/exec.ts";
import type { NotedChanges } from "../../model/work/file-history.ts";
import { changesView, type GitOutcome, type GitRequest } from "../../model/work/git.ts";
import {
  type GitRemoteLimits,
  type GitRemoteReach,
  type GitRemotes,
  NO_GIT_REMOTES,
} from "../../model/work/git-remote.ts";
import { rootPath } from "../../sandbox/files/places/roots.ts";
import { gitEnvironment } from "../../sandbox/git/environment.ts";
import { type RefreshedIndex, refreshedIndex } from "../../sandbox/git/landed-index.ts";
import { gitLockOf } from "../../sandbox/git/lock-names.ts";
import { type Keeping, keptChanges, type NamedIn } from "../../sandbox/keeping/keeping.ts";
import { codeOf } from "../../sandbox/landing/machine/failures.ts";
import { CapturedOutput } from "../../sandbox/run/captured-output.ts";
import {
  INSIDE_WORKSPACE,
  insideWorkspace,
  type RunEnd,
  type SandboxEnd,
  type SandboxLanding,
  type ScopeJudge,
} from "../../sandbox/sandbox.ts";
import type { Caller, Running } from "../call/stages.ts";
import { installationDenial, unanalysed } from "../judge/scope.ts";
import { keepingOf } from "../keeping/call-keeping.ts";
import { type JudgedGround, judgedGround } from "../repositories/judged-ground.ts";
import { EXEC_TIMEOUT_MS } from "./exec-access.ts";
import { beginBounds, isBounded, requireUnoccupied } from "./git-bounds.ts";
import { gitEgress, plainAddress } from "./git-egress.ts";
import { type GitJudge, gitScope } from "./git-scope.ts";
import type { HandleParts } from "./handle-parts.ts";
import { requireAllowed } from "./still-allowed.ts";

/** Bytes that one run of git may put out; a call that wants more has to be narrowed. */
const GIT_OUTPUT_BYTES_MAX = 8 * MIB;
/** Bytes of messages of git that are kept. */
const GIT_MESSAGE_BYTES_MAX = 16 * KIB;
/** Milliseconds that a run of git which reaches a remote may take. */
const GIT_REMOTE_TIMEOUT_MS = 600_000;

/** Runs git for one call, by what `judge` says of files. */
export function runGit(handle: HandleParts, judge: GitJudge, request: GitRequest): Promise<GitOutcome> {
  if (request.reach === "nothing") return run(handle, judge, request);
  const isViewed = changesView(request);
  return handle.running.run.changes.during(
    () => run(handle, judge, request),
    ({ notKept }) => !isViewed || notKept?.length === 0,
  );
}

/** Milliseconds by which the times of files may lie behind the clock. */
const FILE_CLOCK_MS = 1000;

/** What lets the index know the files that land from now on, if all of it does. */
function indexRefresh({ kernel, running }: HandleParts, { root }: GitRequest, ground: JudgedGround | undefined) {
  const { parts } = kernel;
  const workspace = running.caller.place.roots.service;
  const sinceMs = parts.clock.nowMs() - FILE_CLOCK_MS;
  const refresh = async () => {
    try {
      const steps = refreshedIndex({ workspace, root, sinceMs }, parts.newFiles);
      const { result } = await inSlices("refreshing git's index", steps);
      if (result === undefined) return;
      const path = root === "." ? ".git/index" : `${root}/.git/index`;
      const noted = await noteRewritten(keepingOf(parts, running), { directory: workspace.descriptor, path }, result);
      await (result.replace() ? noted?.made() : noted?.forget());
    } catch (error) {
      // a lease, a full disk: what was asked is done, and the next `git status` makes up for this
      if (!(error instanceof KernelError) && !(error instanceof ToolFailure) && codeOf(error) === undefined)
        throw error;
    }
  };
  return async ({ landed }: SandboxEnd): Promise<void> => {
    if (landed?.notKept.length === 0) await (ground?.whileRewritten(refresh) ?? refresh());
  };
}

/** Notes that the call changes a file once more, so that what it did can be undone. */
async function noteRewritten(
  keeping: Keeping | undefined,
  before: NamedIn,
  { bytes, mode }: Pick<RefreshedIndex, "bytes" | "mode">,
): Promise<NotedChanges | undefined> {
  if (keeping === undefined) return undefined;
  const state = { kind: "file", mode, content: blake3Hex(bytes), bytes: bytes.length } as const;
  const steps = keptChanges(keeping, [{ path: before.path, before, after: { state } }]);
  const { changes, isCut } = (await inSlices("keeping git's index", steps)).result;
  return changes.length === 0 ? undefined : keeping.note(changes, { isCut });
}

async function run(handle: HandleParts, judge: GitJudge, request: GitRequest): Promise<GitOutcome> {
  const { kernel, running, signal } = handle;
  const boundsOfOne = kernel.parts.sandbox.limits();
  requireRunnable(running, request);
  const { remote } = request;
  const isBound = isBounded(handle, request);
  const remotes = remote || isBound ? kernel.parts.gitRemotes(running.redaction.by) : NO_GIT_REMOTES;
  const egress = remote && gitEgress(handle, remote, remotes);
  const inside = insideWorkspace(request.root);
  const settings = settingsOf(running, request);
  const sandbox = await kernel.parts.sandbox.open();
  await requireAllowed(handle);
  const stdout = new CapturedOutput(GIT_OUTPUT_BYTES_MAX);
  const stderr = new CapturedOutput(GIT_MESSAGE_BYTES_MAX);
  const scope = gitScope(judge, request);
  const { roots } = running.caller.place;
  if (request.reach === "new") requireUnoccupied(roots.service, request.root);
  const ground = judgedGround(running, request);
  const bounds =
    isBound && scope.landing === undefined ? await beginBounds(handle, request, remotes.limits) : undefined;
  const refresh = indexRefresh(handle, request, ground);
  const ending = sandbox.run(
    {
      root: rootPath(roots.service),
      judge: scope.judge,
      async settle(tookTime) {
        if (tookTime) await requireAllowed(handle);
        ground?.requireStanding();
        return false;
      },
      ...(scope.landing && {
        landing: landingOf(handle, { judge: scope.landing, request, ground }, isBound ? remotes.limits : undefined),
      }),
      command: ["git", ...request.args],
      workDir: request.reach === "new" ? INSIDE_WORKSPACE : inside,
      environment: environmentOf(request, settings.hasIdentity ? undefined : committerOf(running.caller)),
      limits: {
        ...boundsOfOne,
        outputBytesMax: GIT_OUTPUT_BYTES_MAX,
        timeoutMs: Math.min(request.timeoutMs ?? (remote ? GIT_REMOTE_TIMEOUT_MS : EXEC_TIMEOUT_MS), MAX_TIMEOUT_MS),
      },
      ...(egress && { egress: egress.grant }),
      files: settings.text === undefined ? [] : [{ target: `${inside}/.git/config`, text: settings.text }],
    },
    { stdout: (bytes) => stdout.push(bytes), stderr: (bytes) => stderr.push(bytes) },
    bounds === undefined ? signal : AbortSignal.any([signal, bounds.signal]),
  );
  const end = await ending.catch(async (error: unknown) => {
    await bounds?.settle(true); // whatever became of it, nothing looks after it any more
    throw error;
  });
  running.run.noteSandbox({ ...end.enforced, namespaces: [...end.enforced.namespaces] });
  const network = end.egress && (await egress?.outcome(end.egress));
  const hasFailed = end.exitCode !== 0 || end.endedBy !== undefined;
  const isExceeded = (await bounds?.settle(hasFailed)) ?? end.wroteTooMuch === true;
  if (end.problem !== undefined) throw end.problem;
  ground?.requireStood();
  await refresh(end);
  if (end.endedBy === "output") throw tooMuch(request);
  const [said, complained] = [stdout.parts().head, Buffer.from(stderr.parts().head)];
  return {
    ...saidOf({ said, complained }, remote),
    nested: scope.nested(),
    refusedHosts: network?.problems ?? [],
    ...exceededOf(isExceeded, hasFailed ? network : undefined, remotes),
    ...(end.landed && { notKept: end.landed.notKept }),
    ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
    ...endOf(end),
  };
}

/** Git says little of a part of it that the machine killed. */
function endOf({ endedBy, exitCode, usage }: SandboxEnd): Pick<GitOutcome, "endedBy"> {
  const end = endedBy ?? (exitCode !== 0 && (usage?.memoryKills ?? 0) > 0 ? ("memory" as const) : undefined);
  return end === undefined ? {} : { endedBy: end };
}

function environmentOf({ root, reach, remote }: GitRequest, committer: ReturnType<typeof committerOf> | undefined) {
  return gitEnvironment({
    directory: insideWorkspace(root),
    isNew: reach === "new",
    readOnly: reach === "nothing",
    ...(remote && { remote: { address: remote.address, plainAddress: plainAddress(remote) } }),
    ...(committer && { committer }),
  });
}

/** What git said, with the remote's address as the call knows it. */
function saidOf(
  { said, complained }: { readonly said: Uint8Array; readonly complained: Buffer },
  remote: GitRemoteReach | undefined,
): Pick<GitOutcome, "stdout" | "stderr"> {
  return {
    stdout: remote ? asNamed(Buffer.from(said), remote) : said,
    stderr: (remote ? asNamed(complained, remote) : complained).toString("utf8"),
  };
}

/** All that git changes in a view lands, or nothing. */
function landingOf(
  handle: HandleParts,
  {
    judge,
    request,
    ground,
  }: { readonly judge: ScopeJudge; readonly request: GitRequest; readonly ground: JudgedGround | undefined },
  limits: GitRemoteLimits | undefined,
): SandboxLanding {
  const { root, reach } = request;
  const own = root === "." ? ".git" : `${root}/.git`;
  return {
    lockOf: (path) => gitLockOf(own, path),
    ...(reach !== "new" && { unchanged: [{ path: `${own}/HEAD`, text: headOf(handle.running, root) }] }),
    ...(ground && { ground: { stands: () => ground.stands(), landed: () => ground.renew() } }),
    judge,
    newFiles: handle.kernel.parts.newFiles,
    keeping: keepingOf(handle.kernel.parts, handle.running),
    isWhole: true,
    wants: hasSettled,
    before: () => requireAllowed(handle),
    ...(limits && { bytesMax: limits.writtenBytesMax }),
  };
}

/** What was checked out when the call was judged: git changes that branch, and no other one. */
function headOf({ look }: Running, root: string): string {
  const repository = look.repository(root);
  assert(repository.kind === "found" && repository.head !== undefined, "git runs in a repository that was looked at");
  return repository.head;
}

/**
 * Whether git came to an end of its own: 1 is that of a merge or rebase which stopped at a conflict. Of one that failed
 * or was ended nothing lands.
 */
function hasSettled({ exitCode, endedBy }: RunEnd): boolean {
  return (exitCode === 0 || exitCode === 1) && endedBy === undefined;
}

/** The bound that ended the run, if one did. */
function exceededOf(
  hasWritten: boolean,
  network: ExecNetwork | undefined,
  { limits }: GitRemotes,
): Pick<GitOutcome, "exceeded"> {
  if (hasWritten) return { exceeded: { setting: "written_mb", bytesMax: limits.writtenBytesMax } };
  const isTooMuch = network?.problems.some(({ reason }) => reason === "too_many_bytes") ?? false;
  return isTooMuch ? { exceeded: { setting: "received_mb", bytesMax: limits.receivedBytesMax } } : {};
}

function asNamed(said: Buffer, remote: GitRemoteReach): Buffer {
  const { port, path, address } = remote;
  const plain = plainAddress(remote);
  const origin = plain.slice(0, -path.length);
  const shown = (port === 443 ? origin.slice(0, -":443".length) : origin).replace("http:", "https:");
  const text = said.toString("latin1").replaceAll(plain, () => address);
  return Buffer.from(
    text.replaceAll(origin, () => shown),
    "latin1",
  );
}

/** @throws Refusal where that run is not what its call was judged by, or would change the Handrail that is running */
function requireRunnable(running: Running, request: GitRequest): void {
  requireAnalysed(running, request);
  requireNotInstalled(running.caller, request);
}

/** An operation that was judged stands in the analysis as a reference of git. */
function requireAnalysed({ accesses, tool }: Running, { reach }: GitRequest): void {
  const named = accesses.filter(({ resource }) => resource.kind === "git_ref");
  const isNamed = named.some(({ effect }) => reach === "nothing" || effect !== "read");
  if (!isNamed) throw new Refusal(unanalysed(tool.name, reach === "nothing" ? "read" : "write"));
}

/**
 * A repository of the Handrail that is running is read only as a whole: what is committed there is what its next start
 * may run.
 */
function requireNotInstalled({ place }: Caller, { root, reach }: GitRequest): void {
  if (reach === "nothing" || place.workspace.zones.restriction({ root: "service", path: root }) !== "installation")
    return;
  throw new Refusal(installationDenial(root));
}

function settingsOf(
  { look }: Running,
  { root, reach }: GitRequest,
): { readonly text?: string; readonly hasIdentity: boolean } {
  if (reach === "new") return { hasIdentity: true };
  const repository = look.repository(root);
  assert(repository.kind === "found" && repository.root === root, "git runs in a repository that was looked at");
  if (reach !== "settings") return { text: repository.settings, hasIdentity: repository.hasIdentity };
  if (repository.ignoredSettings.length > 0) throw foreignSettings(repository.ignoredSettings);
  return { hasIdentity: repository.hasIdentity };
}

function committerOf({ session }: Caller): { readonly name: string; readonly email: string } {
  const name = session.agentId.replaceAll(/[^\w.@ -]/g, "-").slice(0, 100) || "agent";
  return { name, email: `${name.replaceAll(/[^\w.-]/g, "-")}@agents.invalid` };
}

/** What was to change something may have, before it was ended. */
function tooMuch(request: GitRequest): ToolFailure {
  const ended = `git put out more than ${GIT_OUTPUT_BYTES_MAX / 2 ** 20} MiB and was ended`;
  if (request.reach === "nothing" || changesView(request))
    return new ToolFailure("OUTPUT_LIMIT", ended, "name paths, or ask for fewer commits");
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    `${ended}; it may have changed the repository before`,
    "look at the status before going on",
  );
}

function foreignSettings(names: readonly string[]): ToolFailure {
  const shown = names.slice(0, 5).map((name) => `\`${name.slice(0, 80)}\``);
  return new ToolFailure(
    "NOT_SUPPORTED",
    `the repository has settings that have no effect here (${shown.join(", ")}), and git would have to run by them to change its settings`,
    "ask a person to make this change, or to remove those settings",
  );
}
