/**
 * The sandbox: runs commands in a workspace, by the scope of the call, with nothing else of the machine.
 *
 * Decides how a run is contained on this machine; what it may reach is decided before, and handed in as a judge.
 * INVARIANT: no run without all that the plan says; what cannot be enforced refuses the command.
 */

import { readFileSync } from "node:fs";
import { GIB } from "../base/bytes.ts";
import { ToolFailure } from "../model/outcome/failure.ts";
import type { ExecEnforcement } from "../model/work/exec.ts";
import { bwrapBackend } from "./bwrap/bwrap-backend.ts";
import { containerBackend } from "./container/container-backend.ts";
import { type ControlGroups, openControlGroups, type RunGroup } from "./control-groups/control-groups.ts";
import { requireProgram, type SystemView, systemView } from "./host/system-view.ts";
import { workspaceTree } from "./host/workspace-tree.ts";
import { Identities, type Identity, ownIdentity, seenBy } from "./identity/identity.ts";
import { ViewDirectories, type ViewNames } from "./layers/view-directories.ts";
import { Egress } from "./net/egress.ts";
import type { EgressNetwork } from "./net/gate/admission.ts";
import { noBackend } from "./none/none-backend.ts";
import { NEW_NAMESPACES, planSandbox, type SandboxLimits, type SandboxMount } from "./plan/plan.ts";
import { selectionFiles, selectionMounts } from "./plan/selection-mounts.ts";
import type { Processor } from "./plan/syscall-numbers.ts";
import { WorkspaceLook } from "./plan/workspace-mounts.ts";
import type { Backend } from "./run/backend.ts";
import type { RunEnd, RunOutput } from "./run/launch.ts";
import { requireNoMounts } from "./run/mount-check.ts";
import { adoptOrphans } from "./run/orphans.ts";
import { giveWay } from "./run/priority.ts";
import { isEnding, noOwnFiles, requireProcessor, requireSocat, tooManyRuns, unknownEnd } from "./run/refusals.ts";
import { superviseRun } from "./run/supervised-run.ts";
import type { SandboxEnd, SandboxRun } from "./sandbox-run.ts";
import { scratchGrowth, scratchMounts } from "./scratch/shown-scratch.ts";
import { landed } from "./views/after-run.ts";
import { besideMounts } from "./views/beside.ts";
import { copiedLook, renewedMounts, settledLook } from "./views/looks.ts";
import { type ChosenView, type ViewChoice, type ViewKind, ViewKinds } from "./views/view-kinds.ts";
import { type LandedCount, View } from "./views/views.ts";

/**
 * Bytes that a process of a sandbox may ask for beyond its bound of memory, where no control group counts what is used:
 * a runtime with a compiler of its own asks for half a gibibyte for each thread before it uses any.
 */
const SANDBOX_RESERVED_BYTES = 4 * GIB;
/** Bytes that it may ask for where a control group bounds what is used: enough for the threads of a large test run. */
const SANDBOX_ASKED_BYTES_MAX = 64 * GIB;
/** Commands that one kernel runs at once. */
const SANDBOX_RUNS_MAX = 64;

export { SANDBOX_USER_ID } from "./identity/identity.ts";
export { type EffectSide, likenessOf, type ReviewedEffect, type SideOpener } from "./landing/effects.ts";
export type { EgressGrant } from "./net/egress.ts";
export type { EgressNetwork, EgressVerdict } from "./net/gate/admission.ts";
export type { EgressAttempt, EgressTotals } from "./net/gate/attempt.ts";
export type { SecureWay } from "./net/gate/secure-way.ts";
export {
  INSIDE_WORKSPACE,
  insideWorkspace,
  type SandboxFile,
  type SandboxLimits,
  type SandboxMount,
} from "./plan/plan.ts";
export type { CommandEffect, Reach, ScopeJudge } from "./plan/workspace-mounts.ts";
export type { RunEnd } from "./run/launch.ts";
export type { SandboxEnd, SandboxRun } from "./sandbox-run.ts";
export type { SandboxLanding } from "./views/after-run.ts";
export type { ChosenView } from "./views/view-kinds.ts";

/** How runs can be contained, or that they are not. */
export type BackendName = ExecEnforcement["backend"];

/** What a kernel's sandbox is made with. */
export interface SandboxOptions {
  /** Names this kernel's control groups. */
  readonly instanceId: string;
  /** The user of runs where the kernel is root. */
  readonly userId: number;
  /** Directories with programs outside of `/usr`. */
  readonly toolchains: readonly string[];
  /** What contains runs; bubblewrap when absent. */
  readonly backend?: BackendName;
  /** Whoever started the kernel allows commands that nothing contains; without that backend `none` refuses them. */
  readonly allowsUnsandboxed?: boolean;
  /** Where the backend's program may be, absolute; where packages put it when absent. */
  readonly programs?: readonly string[];
  /** Whether this process is Handrail's alone, so that it may collect what its children leave behind. */
  readonly ownsProcess?: boolean;
  /** Where views lie, absolute; the machine's directory of temporary files when absent. */
  readonly viewsDirectory?: string;
  /** What commands write into; an overlay where one can be mounted, else a copy, when absent. */
  readonly views?: ViewChoice;
  /** Told of workspaces whose commands work on copies because no overlay can be mounted. */
  readonly tell?: (message: string) => void;
  /** Names of views; those of nobody in particular when absent. */
  readonly viewNames?: ViewNames;
  /** `false` on a machine that has none, or for a test of what happens there. */
  readonly controlGroups?: false;
  /**
   * The machine's own when absent. Code alone can give another, no configuration can: it is how tests have an internet
   * of their own.
   */
  readonly network?: EgressNetwork;
}

/** What this machine can enforce, for `handrail doctor`. */
export interface SandboxDiagnosis {
  readonly backend: BackendName;
  /** What makes the sandbox, where it is installed. */
  readonly program: string | undefined;
  /** Version of control groups in use, or why none are. */
  readonly controlGroups: 1 | 2 | { readonly problem: string };
  readonly runsAs: number;
  /** What the last command wrote into. */
  readonly view: ChosenView | undefined;
}

/** A run that the sandbox has taken on. */
interface AcceptedRun {
  readonly processor: Processor;
  readonly wanted: SandboxRun;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
  /** Called when its command has run. */
  readonly ended?: () => void;
}

/** The sandbox of one kernel. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #backend: Backend;
  readonly #identities: Identities;
  readonly #egress: Egress;
  readonly #views: ViewDirectories;
  readonly #kinds: ViewKinds;
  readonly #landed: LandedCount = { made: 0, bytes: 0 };
  #groups: ControlGroups | { readonly problem: string } | undefined;
  #system: SystemView | undefined;
  readonly #runs = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#backend = backendOf(options);
    if (options.ownsProcess === true) adoptOrphans();
    this.#identities = new Identities(options.userId);
    this.#egress = new Egress(options.network);
    const choice = options.views ?? "auto";
    this.#views = new ViewDirectories(options.viewsDirectory, options.viewNames, choice);
    this.#kinds = new ViewKinds(choice, this.#views, options.tell ?? (() => undefined));
  }

  /**
   * Runs a command.
   * @throws ToolFailure SANDBOX_UNAVAILABLE or RESOURCE_BUSY when it did not run; what failed once it had begun is the
   * end's `problem`
   */
  async run(wanted: SandboxRun, output: RunOutput, signal: AbortSignal): Promise<SandboxEnd> {
    this.#backend.require();
    const processor = requireProcessor();
    if (wanted.egress !== undefined && this.isContained) requireSocat();
    if (this.#runs.size >= SANDBOX_RUNS_MAX) throw tooManyRuns();
    if (this.#ending.signal.aborted) throw isEnding();
    const run = this.#identified({ processor, wanted, output, signal: AbortSignal.any([signal, this.#ending.signal]) });
    this.#runs.add(run);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Ends all runs, as cancelled ones, and starts no more; resolves when nothing of them is left. */
  async endRuns(): Promise<void> {
    this.#ending.abort(isEnding());
    await Promise.allSettled(this.#runs);
    await this.#views.settled();
  }

  async #identified(run: AcceptedRun): Promise<SandboxEnd> {
    const { root, beside = [] } = run.wanted;
    const others = beside.map((one) => one.root);
    if (this.isContained)
      for (const one of [root, ...others]) requireNoMounts(one, readFileSync("/proc/self/mountinfo", "utf8"));
    return await this.#runAs(await this.#identityOf(root, others), run);
  }

  async #identityOf(root: string, beside: readonly string[] = []): Promise<Identity> {
    this.#system ??= systemView(this.#options.toolchains);
    if (!this.isContained) return ownIdentity(root);
    const { toolchains } = this.#system;
    return await this.#identities.of(root, { toolchains, views: this.#views.base(), beside });
  }

  /** Whether anything contains runs. */
  get isContained(): boolean {
    return this.#backend.name !== "none";
  }

  /** What commands in the workspace at `root` would write into. @throws ToolFailure SANDBOX_UNAVAILABLE when nothing */
  async viewOf(root: string): Promise<ChosenView | undefined> {
    if (this.isContained) await this.#kinds.of(root, await this.#identityOf(root));
    return this.#kinds.last;
  }

  /** What a command that only reads would see of the workspace now. @throws ToolFailure as `run` */
  async mountsOf(
    { root, judge, settle }: Pick<SandboxRun, "root" | "judge" | "settle">,
    signal: AbortSignal,
  ): Promise<readonly SandboxMount[]> {
    const identity = await this.#identityOf(root);
    const begin = () => new WorkspaceLook(identity.source, workspaceTree(root), judge);
    return await renewedMounts(await settledLook(begin, settle, signal), signal);
  }

  /** Whether the backend hands a command its standard input. */
  get takesInput(): boolean {
    return this.#backend.name === "bwrap";
  }

  /** What this machine can enforce. */
  diagnose(): SandboxDiagnosis {
    const groups = this.#controlGroups();
    const own = process.geteuid?.() ?? 0;
    return {
      backend: this.#backend.name,
      program: this.#backend.find(),
      controlGroups: "problem" in groups ? groups : groups.version,
      runsAs: own === 0 && this.isContained ? this.#options.userId : own,
      view: this.#kinds.last,
    };
  }

  /** Ends views, control groups and ways out. Runs have ended before. */
  close(): void {
    this.#identities.close();
    this.#egress.close();
    this.#backend.close();
    if (this.#groups !== undefined && "close" in this.#groups) this.#groups.close();
  }

  async #runAs(identity: Identity, run: AcceptedRun): Promise<SandboxEnd> {
    const { wanted } = run;
    const { files, selection, beside } = wanted;
    if ([files, selection, beside].some((own) => own !== undefined) && !this.isContained)
      throw noOwnFiles(this.#backend.name);
    if (wanted.landing === undefined || !this.isContained) return await this.#runSeeing(undefined, identity, run);
    const kind = await this.#kinds.of(wanted.root, identity);
    let hasRun = false;
    const ended = () => {
      hasRun = true;
    };
    try {
      return await this.#runInView(kind, identity, { ...run, ended });
    } catch (error) {
      // perhaps the overlay could not be mounted any more
      if (hasRun || kind !== "overlay" || !isUnavailable(error) || run.signal.aborted) throw error;
      if (!this.#kinds.forget(wanted.root) || (await this.#kinds.of(wanted.root, identity)) === kind) throw error;
      return await this.#runInView("copy", identity, run);
    }
  }

  async #runInView(kind: ViewKind, identity: Identity, run: AcceptedRun): Promise<SandboxEnd> {
    const { wanted, signal } = run;
    const view = new View({ directories: this.#views, identity, root: wanted.root, counted: this.#landed, kind });
    try {
      const growth = view.watch(wanted.landing?.bytesMax);
      const scratch = await scratchGrowth(wanted.scratch);
      const ending = AbortSignal.any([signal, growth.signal, scratch.signal]);
      const end = await this.#runSeeing(view, view.identity, { ...run, signal: ending }).catch(async (error) => {
        await scratch.end();
        throw error;
      });
      run.ended?.();
      const outgrown = (await growth.end()) ?? (await scratch.end());
      if (outgrown !== undefined) return { ...end, ...outgrown };
      return { ...end, ...(await landed(view, wanted, { end, signal })) };
    } finally {
      view.dispose();
    }
  }

  async #runSeeing(view: View | undefined, identity: Identity, run: AcceptedRun): Promise<SandboxEnd> {
    const { processor, wanted, output, signal } = run;
    const { root, judge, settle, limits, environment, egress, selection, files = [], scratch, ...more } = wanted;
    const { input, beside, ...rest } = more;
    let tree = workspaceTree(root);
    const begin = () => {
      tree = workspaceTree(root);
      return new WorkspaceLook(identity.source, tree, judge);
    };
    let look = await settledLook(begin, settle, signal);
    this.#system ??= systemView(this.#options.toolchains);
    const system = this.#system;
    requireProgram(system, wanted.command[0]);
    const way =
      egress === undefined || !this.isContained ? undefined : await this.#egress.open(egress, identity.userId);
    let group: RunGroup | undefined;
    try {
      // As late as can be: what follows is no more than what a start takes.
      await view?.begin(tree.seen, look.entries);
      if (view !== undefined && identity.layers === undefined)
        look = await copiedLook(view, { look, judge, settle }, signal);
      const scoped = await renewedMounts(look, signal);
      const mounts = selection === undefined ? scoped : selectionMounts(identity.source, scoped, selection);
      const others = await besideMounts(beside ?? [], identity.beside, signal);
      wanted.onMounts?.(mounts);
      group = this.#groupFor(limits);
      const plan = planSandbox(
        {
          ...{ ...rest, limits },
          askedBytesMax: group ? SANDBOX_ASKED_BYTES_MAX : limits.memoryBytesMax + SANDBOX_RESERVED_BYTES,
          system: seenBy(identity, system.mounts),
          workspace: [...mounts, ...others, ...scratchMounts(scratch, identity, this.#views)],
          ...(beside && { beside: beside.map(({ target }) => target) }),
          files: [...files, ...(selection === undefined ? [] : selectionFiles(selection))],
          environment: { PATH: system.path.join(":"), ...environment },
          ...(way && { proxySocket: way.socketPath }),
        },
        processor,
      );
      const launch = await this.#backend.launch(plan, identity);
      const confine = async (processes: readonly number[]) =>
        group === undefined ? giveWay(processes) : await group.confine(processes);
      const watched = group ? {} : { watchedBytesMax: limits.memoryBytesMax };
      const onStanding = view?.passesOn(wanted, mounts);
      const bounds = { limits, output, input, signal, confine, onStanding, ...watched };
      const { problem, ...end }: RunEnd & { readonly problem?: ToolFailure } = await superviseRun(launch, bounds).catch(
        unknownEnd,
      );
      const reached = await way?.close();
      return {
        ...end,
        ...(problem && { problem }),
        ...(group && { usage: group.usage() }),
        ...(reached && { egress: reached }),
        enforced: {
          backend: this.#backend.name,
          namespaces: this.isContained ? NEW_NAMESPACES : [],
          ...(launch.seccomp !== undefined && { seccomp: launch.seccomp }),
          memory: group ? "cgroup" : "watch",
          processes: group ? "cgroup" : "rlimit",
          network: this.isContained ? (way === undefined ? "none" : "proxy") : "host",
          ...(view && { view: view.way }),
          userId: identity.userId,
        },
      };
    } finally {
      await way?.close();
      group?.release();
    }
  }

  #groupFor(limits: SandboxLimits): RunGroup | undefined {
    const groups = this.#controlGroups();
    return "problem" in groups ? undefined : groups.take(limits);
  }

  #controlGroups(): ControlGroups | { readonly problem: string } {
    this.#groups ??=
      this.#options.controlGroups === false
        ? { problem: "none are to be used" }
        : openControlGroups(this.#options.instanceId);
    return this.#groups;
  }
}

/** The one that the operator chose; never another in its place. */
function backendOf({ backend = "bwrap", programs, allowsUnsandboxed = false }: SandboxOptions): Backend {
  switch (backend) {
    case "bwrap":
      return bwrapBackend(programs);
    case "container":
      return containerBackend(programs);
    case "none":
      return noBackend(allowsUnsandboxed);
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ToolFailure && error.code === "SANDBOX_UNAVAILABLE";
}
