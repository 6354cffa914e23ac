/**
 * What is known about one call so far. Stages add to it as they learn; recording and answering read it, so that a
 * refusal at any point is recorded with exactly what was known then.
 */
import type { Clock } from "../base/clock.ts";
import type { Claim } from "../dedupe/dedupe.ts";
import type { Access, WorkspacePath } from "../model/access.ts";
import type { ToolCall } from "../model/call.ts";
import type { Mark } from "../model/label.ts";
import type { Lease } from "../model/lease.ts";
import type { Session } from "../model/session.ts";
import type { Tool } from "../model/tool.ts";
import type { ToolchainView } from "../model/toolchain.ts";
import type { Zone } from "../model/zone.ts";
import { Changes } from "./changes.ts";
import type { OpenWorkspace } from "./parts.ts";
import type { CallRedaction } from "./redaction.ts";

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
}

/** A caller as far as decisions look at one: also one that is only imagined, without handles. */
export interface Judged {
  readonly session: Session;
  readonly lease: Lease;
  readonly place: Pick<OpenWorkspace, "workspace" | "disabledTools" | "toolchain">;
  readonly mark: Mark;
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
  /** What analysis saw of the workspace's toolchain, and the tool sees again. */
  toolchain?: ToolchainView;
  accesses: readonly ResolvedAccess[];
  policyHash?: string;
  rules: readonly string[];
  /** What policy wants to happen first, as `ask dev.write-protected`. */
  obligations: readonly string[];
  /** The right to execute a call with a dedupe key; settled with the answer. */
  claim?: Claim;
  /** Sequence of the durable intent, once it stands. */
  intent?: number;
  /** The tool was started: from here on an effect may stand. */
  ran: boolean;
  /** What the tool changed through its handles. */
  readonly changes: Changes;
  /** The tool failed, and nothing stands of what it tried. */
  unaffected?: boolean;
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
  };
}
