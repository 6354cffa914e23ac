/** Defines one run of the sandbox, and what comes of it. */
import type { Writable } from "node:stream";
import type { ToolFailure } from "../model/outcome/failure.ts";
import type { ExecEnforcement, ExecLanded, ExecSelection } from "../model/work/exec.ts";
import type { RunUsage } from "./control-groups/control-groups.ts";
import type { EgressGrant } from "./net/egress.ts";
import type { EgressTotals } from "./net/gate/attempt.ts";
import type { SandboxFile, SandboxLimits, SandboxMount } from "./plan/plan.ts";
import type { ScopeJudge } from "./plan/workspace-mounts.ts";
import type { RunEnd } from "./run/launch.ts";
import type { SandboxLanding } from "./views/after-run.ts";
import type { BesideDirectory } from "./views/beside.ts";
import type { Settle } from "./views/looks.ts";

/** One run. */
export interface SandboxRun {
  /** The workspace on the machine, a real path. */
  readonly root: string;
  readonly judge: ScopeJudge;
  /**
   * Where the command writes into a view, from which what it changed lands by the judge when it has ended; else it
   * writes into the workspace itself.
   */
  readonly landing?: SandboxLanding;
  readonly settle?: Settle;
  readonly command: readonly [string, ...string[]];
  /** Absolute, inside. */
  readonly workDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  /** What it may reach; nothing when absent. */
  readonly egress?: EgressGrant;
  /** What it sees in place of files of the machine and the workspace; refused where that cannot be done. */
  readonly files?: readonly SandboxFile[];
  /** Takes what the command reads from its standard input; it reads nothing when absent. Backend `bwrap` alone. */
  readonly input?: (writer: Writable) => void;
  /** Told of what the command sees of the workspace, right before it is started. */
  readonly onMounts?: (mounts: readonly SandboxMount[]) => void;
  /** The session's scratch directory, absolute, which it may write; it sees none when absent. */
  readonly scratch?: string;
  /** Directories that it sees beside the workspace, and may write itself where their judges say so. */
  readonly beside?: readonly BesideDirectory[];
  /** What it sees in place of the workspace by its scope; refused where that cannot be done. */
  readonly selection?: ExecSelection;
}

/** What came of a run that began. */
export interface SandboxEnd extends RunEnd {
  readonly enforced: ExecEnforcement;
  readonly usage?: RunUsage;
  /** What it tried to reach, where it had a way out. */
  readonly egress?: EgressTotals;
  /** What became of what it changed, where it wrote into a view; absent where nothing was to land. */
  readonly landed?: ExecLanded;
  /** It wrote more than it may; nothing of that lands. */
  readonly wroteTooMuch?: true;
  /** What is not known of it, OUTCOME_UNKNOWN: for whoever has dealt with what is known. */
  readonly problem?: ToolFailure;
}
