/**
 * The sandbox: runs commands in a workspace, by the scope of the call, with nothing else of the machine.
 *
 * Decides how a run is contained on this machine; what it may reach is decided before, and handed in as a judge. INVARIANT: no run without all that the
 * plan says; what cannot be enforced refuses the command.
 */
import { accessSync, constants } from "node:fs";
import { SANDBOX_ASKED_BYTES_MAX, SANDBOX_RESERVED_BYTES, SANDBOX_RUNS_MAX } from "../base/limits.ts";
import type { ExecEnforcement } from "../model/exec.ts";
import { ToolFailure } from "../model/failure.ts";
import { NEW_NAMESPACES, SOCAT } from "./bwrap/bwrap-arguments.ts";
import { type RunEnd, type RunOutput, runBwrap } from "./bwrap/bwrap-run.ts";
import { type ControlGroups, openControlGroups, type RunGroup } from "./control-groups/control-groups.ts";
import { requireProgram, type SystemView, systemView } from "./host/system-view.ts";
import { workspaceTree } from "./host/workspace-tree.ts";
import { Identities, type Identity } from "./identity/identity.ts";
import type { EgressNetwork } from "./net/admission.ts";
import type { EgressTotals } from "./net/attempt.ts";
import { Egress, type EgressGrant } from "./net/egress.ts";
import { planSandbox, type SandboxLimits } from "./plan/plan.ts";
import { PROCESSORS, type Processor } from "./plan/syscall-numbers.ts";
import { type ScopeJudge, unexpected, workspaceMounts } from "./plan/workspace-mounts.ts";

export { SANDBOX_USER_ID } from "./identity/identity.ts";
export type { EgressVerdict } from "./net/admission.ts";
export type { EgressAttempt, EgressTotals } from "./net/attempt.ts";
export type { EgressGrant } from "./net/egress.ts";
export { INSIDE_WORKSPACE, type SandboxLimits } from "./plan/plan.ts";
export type { Reach, ScopeJudge } from "./plan/workspace-mounts.ts";

/** What a kernel's sandbox is made with. */
export interface SandboxOptions {
  /** Names this kernel's control groups. */
  readonly instanceId: string;
  /** The user of runs where the kernel is root. */
  readonly userId: number;
  /** Directories with programs outside of `/usr`. */
  readonly toolchains: readonly string[];
  /** Where bubblewrap may be, absolute; where packages put it when absent. */
  readonly programs?: readonly string[];
  /** The machine's own when absent. Code alone can give another, no configuration can: it is how tests have an internet of their own. */
  readonly network?: EgressNetwork;
}

/** One run. */
export interface SandboxRun {
  /** The workspace on the machine, a real path. */
  readonly root: string;
  readonly judge: ScopeJudge;
  readonly command: readonly [string, ...string[]];
  /** Absolute, inside. */
  readonly workDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  /** What it may reach; nothing when absent. */
  readonly egress?: EgressGrant;
}

/** What came of a run that began. */
export interface SandboxEnd extends RunEnd {
  readonly enforced: ExecEnforcement;
  readonly usage?: { readonly processorMs: number; readonly memoryBytesMax: number };
  /** What it tried to reach, where it had a way out. */
  readonly egress?: EgressTotals;
  /** What the command made under names that were not its to make, relative to the workspace. */
  readonly unexpected: readonly string[];
}

/** What this machine can enforce, for `handrail doctor`. */
export interface SandboxDiagnosis {
  readonly bwrap: string | undefined;
  /** Version of control groups in use, or why none are. */
  readonly controlGroups: 1 | 2 | { readonly problem: string };
  readonly runsAs: number;
}

/** The sandbox of one kernel. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #identities: Identities;
  readonly #egress: Egress;
  #groups: ControlGroups | { readonly problem: string } | undefined;
  #system: SystemView | undefined;
  #running = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#identities = new Identities(options.userId);
    this.#egress = new Egress(options.network);
  }

  /**
   * Runs a command.
   * @throws ToolFailure SANDBOX_UNAVAILABLE or RESOURCE_BUSY when it did not run; OUTCOME_UNKNOWN when the sandbox was killed from outside
   */
  async run(wanted: SandboxRun, output: RunOutput, signal: AbortSignal): Promise<SandboxEnd> {
    const program = requireBwrap(this.#options.programs);
    const processor = requireProcessor();
    if (wanted.egress !== undefined) requireSocat();
    if (this.#running >= SANDBOX_RUNS_MAX) throw tooManyRuns();
    this.#running += 1;
    try {
      const identity = await this.#identities.of(wanted.root);
      return await this.#runAs(identity, program, processor, wanted, output, signal);
    } finally {
      this.#running -= 1;
    }
  }

  /** What this machine can enforce. */
  diagnose(): SandboxDiagnosis {
    const groups = this.#controlGroups();
    const own = process.geteuid?.() ?? 0;
    return {
      bwrap: findBwrap(this.#options.programs),
      controlGroups: "problem" in groups ? groups : groups.version,
      runsAs: own === 0 ? this.#options.userId : own,
    };
  }

  /** Ends views, control groups and ways out. Runs have ended before. */
  close(): void {
    this.#identities.close();
    this.#egress.close();
    if (this.#groups !== undefined && "close" in this.#groups) this.#groups.close();
  }

  async #runAs(
    identity: Identity,
    program: string,
    processor: Processor,
    wanted: SandboxRun,
    output: RunOutput,
    signal: AbortSignal,
  ): Promise<SandboxEnd> {
    const { root, judge, limits, environment, egress, ...rest } = wanted;
    const tree = workspaceTree(root);
    const { mounts, standing } = workspaceMounts(identity.source, tree, judge);
    this.#system ??= systemView(this.#options.toolchains);
    const system = this.#system;
    requireProgram(system, wanted.command[0]);
    const way = egress === undefined ? undefined : await this.#egress.open(egress, identity.userId);
    let group: RunGroup | undefined;
    try {
      group = this.#groupFor(limits);
      const plan = planSandbox(
        {
          ...rest,
          limits,
          askedBytesMax: group ? SANDBOX_ASKED_BYTES_MAX : limits.memoryBytesMax + SANDBOX_RESERVED_BYTES,
          system: system.mounts,
          workspace: mounts,
          environment: { PATH: system.path.join(":"), ...environment },
          ...(way && { proxySocket: way.socketPath }),
        },
        processor,
      );
      const end = await runBwrap(plan, { program, ...identity }, output, signal, async (processes) => group?.confine(processes));
      const reached = await way?.close();
      return {
        ...end,
        unexpected: unexpected(tree, judge, standing),
        ...(group && { usage: group.usage() }),
        ...(reached && { egress: reached }),
        enforced: {
          backend: "bwrap",
          namespaces: NEW_NAMESPACES,
          seccomp: plan.seccomp.digest,
          memory: group ? "cgroup" : "rlimit",
          network: way === undefined ? "none" : "proxy",
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
    this.#groups ??= openControlGroups(this.#options.instanceId);
    return this.#groups;
  }
}

const BWRAP = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

function findBwrap(programs: readonly string[] = BWRAP): string | undefined {
  return programs.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there
  }
}

function requireBwrap(programs: readonly string[] | undefined): string {
  const found = findBwrap(programs);
  if (found !== undefined) return found;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "commands cannot be contained here, because bubblewrap is not installed; the command did not run",
    "ask the operator to install it, for instance with `apt-get install bubblewrap`",
  );
}

function requireSocat(): void {
  if (isProgram(SOCAT)) return;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "a command cannot have a way to the network here, because socat is not installed; the command did not run",
    "ask the operator to install it, for instance with `apt-get install socat`, or run the command without the network",
  );
}

function requireProcessor(): Processor {
  const found = PROCESSORS.find((name) => name === process.arch);
  if (found !== undefined && process.platform === "linux") return found;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `commands cannot be contained on ${process.platform} ${process.arch}; the command did not run`,
    "ask the operator to run the kernel on Linux, x86-64 or arm64, for instance in a virtual machine",
  );
}

function tooManyRuns(): ToolFailure {
  return new ToolFailure("RESOURCE_BUSY", "too many commands run at once", "wait for one of them to end", { afterMs: 500 });
}
