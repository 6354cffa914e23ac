/**
 * Stage records of a call: what is known of it after each stage of the pipeline.
 *
 * Each record holds everything of the one before, so that a function takes the narrowest record that it needs.
 * INVARIANT: a record is never changed; a stage returns what it learned, and the pipeline makes the next record of
 * both. What a running tool does, and what the call holds that must be settled, stands in `RunRecord` and `Holdings`.
 */

import type { ImposedObligation } from "../../approval/approval.ts";
import type { Clock } from "../../base/clock.ts";
import type { EffectsDetail } from "../../model/approval/approval.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { OperatorGates } from "../../model/people/gates.ts";
import type { Lease } from "../../model/people/lease.ts";
import type { Session } from "../../model/people/session.ts";
import type { Access, WorkspacePath } from "../../model/place/access.ts";
import type { Branch } from "../../model/place/branch.ts";
import type { Zone } from "../../model/place/zone.ts";
import type { ToolCall } from "../../model/tool/call.ts";
import type { FilePreview, Tool } from "../../model/tool/tool.ts";
import type { ReachedHost } from "../../model/work/exec.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import type { Demands } from "../declared/capability-obligations.ts";
import type { CallRedaction } from "../redaction/redaction.ts";
import type { Holdings } from "./holdings.ts";
import type { OpenWorkspace } from "./parts.ts";
import type { RunRecord } from "./run-record.ts";
import type { WorkspaceLook } from "./workspace-look.ts";

/** An access with the place it resolved to, when it is a file. */
export interface ResolvedAccess extends Access {
  /** What the call writes or sends there holds a definite secret. */
  readonly carriesSecret?: true;
  readonly target?: { readonly place: WorkspacePath; readonly zone: Zone };
  /** What policy may read of it as `context.arguments`. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** Effects of a command's own about which a person is asked, after it has run. */
export interface EffectReview {
  /** Keyed digest of all of them, with both sides. */
  readonly hash: string;
  readonly previews: readonly FilePreview[];
  /** Rights that change, such as `0644 to 0666`. */
  readonly rights: readonly string[];
  /** How many become programs. */
  readonly programs: number;
  /** What its command tried to reach before. */
  readonly reached: readonly ReachedHost[];
  /** How much they are together. */
  readonly totals: Omit<EffectsDetail, "list" | "unlisted">;
  /** Keeps a list of all of them, for people who want to see more than fits a request. */
  readonly keepList: () => Promise<Pick<EffectsDetail, "list" | "unlisted">>;
  /** Of a merge, of which no command has run: what lands, and where. */
  readonly lands?: string;
}

/** Who calls, under which lease, in which workspace. */
export interface Caller {
  readonly session: Session;
  readonly lease: Lease;
  readonly place: OpenWorkspace;
  /** The branch that `place` is; the workspace itself when absent. */
  readonly branch?: Branch;
  /** What the principal has seen in this workspace. */
  readonly mark: Mark;
  /** Whether calls that need arming may run. */
  readonly armed: boolean;
  /** Whether a sandbox contains the commands of its calls. */
  readonly isSandboxed: boolean;
  /** Modes, skills, specs and tool policy as they are now. */
  readonly gates: OperatorGates;
}

/** A caller as far as decisions look at one: also one that is only imagined, without handles. */
export interface Judged {
  readonly session: Session;
  readonly lease: Lease;
  readonly place: Pick<
    OpenWorkspace,
    | "workspace"
    | "disabledTools"
    | "toolPolicy"
    | "commands"
    | "toolchain"
    | "installFile"
    | "repository"
    | "privateGitHosts"
    | "openedWebHosts"
  > &
    Partial<Pick<OpenWorkspace, "roots">>;
  readonly mark: Mark;
  readonly armed: boolean;
  /** Not so where nothing is said. */
  readonly isSandboxed?: boolean;
  readonly gates: OperatorGates;
}

/** The notice that ends a call early; the kill switch gives it. */
export interface StopNotice {
  /** Why the call was ended while it ran: its session must not act any more. */
  readonly stoppedBy: Denial | undefined;
}

/** A request that has arrived; nothing of it has been read. */
export interface Arrived {
  /** Empty until the request was read. */
  readonly requestId: string;
  readonly startedMs: number;
  readonly receivedAtMs: number;
  readonly notice: StopNotice;
}

/** A call whose envelope holds. */
export interface Received extends Arrived {
  readonly call: ToolCall;
  /** The name that its caller used, where the session speaks a dialect. */
  readonly spokenAs?: string | undefined;
  /** Hides secrets in everything that leaves or is recorded. */
  readonly redaction: CallRedaction;
}

/** A call of a session that may act. */
export interface Authenticated extends Received {
  readonly session: Session;
  readonly caller: Caller;
}

/** A call of a known tool, with every access that it will make, resolved and in scope. */
export interface Analysed extends Authenticated {
  readonly tool: Tool;
  /** The arguments as the tool's schema read them. */
  readonly args: unknown;
  /** What the tool's capability asks for these arguments. */
  readonly demands: Demands;
  readonly look: WorkspaceLook;
  readonly accesses: readonly ResolvedAccess[];
}

/** What policy allowed: the permits that matched, and what must happen first. */
export interface Ruling {
  readonly permits: readonly string[];
  readonly obligations: readonly ImposedObligation[];
}

/** A call that policy allows. */
export interface Decided extends Analysed {
  /** Where its command has run already, and its effects are what is asked about. */
  readonly review?: EffectReview;
  readonly policy: PolicyEngine;
  readonly ruling: Ruling;
}

/** A call on its way through the steps that grant it: replay protection, rates, approval, budget. */
export interface Granted extends Decided {
  /** When policy had decided, on the monotonic clock. */
  readonly decidedAtMs: number;
  readonly holdings: Holdings;
}

/** The hashes of documents of a call that are kept as evidence. */
export interface CallDocuments {
  readonly call: string;
  readonly input?: string;
  readonly output?: string;
}

/** A call whose tool may run. */
export interface Running extends Granted {
  /** Sequence of the durable intent; calls that only read have none. */
  readonly intent: number | undefined;
  /** The call and its input as they are kept; absent where they are not, or not yet. */
  readonly documents?: CallDocuments | undefined;
  readonly run: RunRecord;
}

/** What is known of a call that ended after any stage: for evidence and answers. */
export type Known = Arrived & {
  readonly [Member in Exclude<keyof Running, keyof Arrived>]?: Running[Member] | undefined;
};

/** The notice of what no kill switch ends. */
const NEVER_STOPPED: StopNotice = { stoppedBy: undefined };

/** The record of a request that arrives now. */
export function arrive(clock: Clock, notice: StopNotice = NEVER_STOPPED): Arrived {
  return { requestId: "", startedMs: clock.monotonicMs(), receivedAtMs: clock.nowMs(), notice };
}
