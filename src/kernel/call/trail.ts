/**
 * What is known about one call so far. Stages add to it as they learn; recording and answering read it, so that a
 * refusal at any point is recorded with exactly what was known then.
 */
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Claim } from "../../dedupe/dedupe.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { OperatorGates } from "../../model/people/gates.ts";
import type { Lease } from "../../model/people/lease.ts";
import type { Session } from "../../model/people/session.ts";
import type { Access, WorkspacePath } from "../../model/place/access.ts";
import type { Zone } from "../../model/place/zone.ts";
import type { ToolCall } from "../../model/tool/call.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { RepositoryView } from "../../model/work/git.ts";
import type { Toolchain, ToolchainView } from "../../model/work/toolchain.ts";
import type { Demands } from "../declared/capability-obligations.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import { Changes } from "./changes.ts";
import type { OpenWorkspace } from "./parts.ts";
import type { ApprovedTargets } from "./pre-image.ts";
import type { Spending } from "./spending.ts";

/** An access with the place it resolved to, when it is a file. */
export interface ResolvedAccess extends Access {
  /** What the call writes or sends there holds a definite secret. */
  readonly carriesSecret?: true;
  readonly target?: { readonly place: WorkspacePath; readonly zone: Zone };
}

/** Who calls, under which lease, in which workspace. */
export interface Caller {
  readonly session: Session;
  readonly lease: Lease;
  readonly place: OpenWorkspace;
  /** What the principal has seen in this workspace. */
  readonly mark: Mark;
  /** Whether calls that need arming may run. */
  readonly armed: boolean;
  /** Modes, skills, specs and tool policy as they are now. */
  readonly gates: OperatorGates;
}

/** A caller as far as decisions look at one: also one that is only imagined, without handles. */
export interface Judged {
  readonly session: Session;
  readonly lease: Lease;
  readonly place: Pick<
    OpenWorkspace,
    "workspace" | "disabledTools" | "toolPolicy" | "toolchain" | "installFile" | "repository" | "privateGitHosts"
  > &
    Partial<Pick<OpenWorkspace, "roots">>;
  readonly mark: Mark;
  readonly armed: boolean;
  readonly gates: OperatorGates;
}

/** An approval that a call goes on by. */
export interface UsedApproval {
  readonly ref: string;
  /** meao's name of the kind: `<tool>:execute` or `<tool>:danger`. */
  readonly id: string;
  /** Rules that it was asked for. */
  readonly rules: ReadonlySet<string>;
  /** The files that it was given for, as they were. */
  readonly targets: ApprovedTargets;
}

/** The record of one call while it walks the pipeline. */
export interface Trail {
  requestId: string;
  readonly startedMs: number;
  readonly receivedAtMs: number;
  /** What everything that leaves goes through; nothing free-form leaves or is recorded without it. */
  redaction?: CallRedaction;
  call?: ToolCall;
  /** Whose token it was, once its hash matched; the session may be one that must not act. */
  session?: Session;
  caller?: Caller;
  tool?: Tool;
  args?: unknown;
  /** What the tool's capability asks for these arguments. */
  demands?: Demands;
  /** What analysis saw of the workspace's toolchain, and the tool sees again. */
  toolchain?: ToolchainView;
  /** What that was, once somebody looked. */
  seenToolchain?: Toolchain;
  /** The same of its repositories. */
  repository?: RepositoryView;
  /** Directories in whose repositories it looked. */
  seenRepositories?: ReadonlySet<string>;
  accesses: readonly ResolvedAccess[];
  policyHash?: string;
  rules: readonly string[];
  /** What policy wants to happen first, as `ask dev.write-protected`. */
  obligations: readonly string[];
  /** The right to execute a call with a dedupe key; settled with the answer. */
  claim?: Claim;
  /** The approval that the call has used; given back when it never begins. */
  approval?: UsedApproval;
  /** Names the limits by which was decided what the call has to reserve. */
  limits?: string;
  /** What it reserved, where something is limited; settled with the answer. */
  spending?: Spending;
  /** Something kept the call waiting, so that what allowed it has to be looked at again. */
  waited?: boolean;
  /** Sequence of the durable intent, once it stands. */
  intent?: number;
  /** The tool was started: from here on an effect may stand. */
  ran: boolean;
  /** Why the call was ended while it ran: its session must not act any more. */
  stopped?: Denial;
  /** What the tool changed through its handles. */
  readonly changes: Changes;
  /** The tool failed, and nothing stands of what it tried. */
  unaffected?: boolean;
  /** What contained the commands of the call. */
  sandboxed?: JsonObject;
  /** How its commands ended, and what they used. */
  readonly commands: JsonObject[];
  /** The tool returned: its effect stands, whatever becomes of its result. */
  done?: boolean;
}

/** The trail of a call that has just arrived. */
export function beginTrail(clock: Clock): Trail {
  return {
    requestId: "",
    startedMs: clock.monotonicMs(),
    receivedAtMs: clock.nowMs(),
    accesses: [],
    rules: [],
    obligations: [],
    ran: false,
    changes: new Changes(),
    commands: [],
  };
}
