/**
 * Defines the port through which the administration service asks the kernel's owner.
 *
 * The composition supplies it.
 */
import type { ApprovalScope } from "../../../model/approval/approval.ts";
import type { Lease, LeaseBudget, LeaseScope } from "../../../model/people/lease.ts";
import type { Session } from "../../../model/people/session.ts";

/** A wish for a session; what is absent comes from the operator's settings. */
export interface AdminSessionWish {
  readonly workspace: string;
  readonly projectRoot?: string;
  readonly role?: string;
  readonly preset?: string;
  readonly mode?: string;
  readonly skill?: string;
  readonly dialect?: string;
  readonly userId: string;
  readonly agentId: string;
  readonly lifetimeMs?: number;
  readonly leaseId?: string;
  readonly scope: LeaseScope;
  readonly budget?: LeaseBudget;
}

/** An entry as its canonical bytes, with what stands beside it. */
export interface AdminLedgerRecord {
  readonly entry: Uint8Array;
  readonly hash: Uint8Array;
  readonly payload?: Uint8Array;
}

/** What a verification found. */
export interface AdminVerification {
  readonly ok: boolean;
  readonly entries: number;
  readonly pruned: number;
  readonly problems: readonly { readonly sequence: number; readonly problem: string }[];
  readonly truncated: boolean;
}

/** What was found of one preset's policies. */
export interface AdminPresetCheck {
  readonly preset: string;
  readonly ok: boolean;
  readonly policies: number;
  readonly hash?: string;
  readonly problems: readonly string[];
}

/** What lets calls that need arming run. */
export interface AdminArming {
  readonly sessionId?: string;
  readonly armedAtMs: number;
  readonly untilMs: number;
  readonly armedBy: string;
}

/** How the kernel is. */
export interface AdminHealth {
  readonly version: string;
  readonly instanceId: string;
  readonly ledger: { readonly writable: boolean; readonly problem?: string; readonly waiting: number };
  /** How often the kernel's thread stood. */
  readonly stalls: { readonly count: number; readonly longestMs: number };
  readonly tools: number;
  /** Calls and events that were not exported, and lines of the log that were lost. */
  readonly telemetryDropped: number;
}

/** A request for approval; times are milliseconds since the Unix epoch. */
export interface AdminApproval {
  readonly ref: string;
  readonly state: string;
  readonly tool: string;
  readonly userId: string;
  readonly agentId: string;
  readonly serviceRoot: string;
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly uses: number;
  readonly decision?: ApprovalAnswerRecord;
  /** Canonical JSON; empty when what is stored is not what the reference names. */
  readonly document: string;
}

/** What was decided, as recorded. */
export interface ApprovalAnswerRecord {
  readonly approved: boolean;
  readonly by: string;
  readonly channel: string;
  readonly atMs: number;
  readonly scope?: ApprovalScope;
  readonly reason?: string;
}

/** The acts of approvers. */
export interface AdminApprovals {
  readonly list: (state: string | undefined) => Promise<readonly AdminApproval[]>;
  /** By a reference or the beginning of one. */
  readonly find: (ref: string) => Promise<AdminApproval | undefined>;
  /** `undefined` when there is no such request. Rejects for a credential that is nobody's. */
  readonly decide: (
    ref: string,
    decision: { readonly approved: boolean; readonly scope?: ApprovalScope; readonly reason?: string },
    credential: string,
  ) => Promise<{ readonly decided: boolean; readonly approval: AdminApproval } | undefined>;
}

/** Whom a freeze holds. */
export type AdminFreezeTarget =
  | { readonly scope: "all" }
  | { readonly scope: "principal"; readonly userId: string; readonly agentId: string }
  | { readonly scope: "workspace"; readonly userId: string; readonly agentId: string; readonly serviceRoot: string };

/** A freeze; times are milliseconds since the Unix epoch. */
export interface AdminFreeze {
  readonly target: AdminFreezeTarget;
  readonly cause: string;
  readonly reason: string;
  readonly by: string;
  readonly atMs: number;
}

/** What an agent did, and why it is frozen; lists have the latest last. */
export interface AdminReview {
  readonly session: Session;
  readonly freeze?: AdminFreeze;
  readonly mark?: { readonly trustLevel: string; readonly dataClass: string };
  readonly liveSessions: readonly string[];
  /** Plain JSON, redacted. */
  readonly violations: readonly object[];
  readonly calls: readonly object[];
  readonly entriesRead: number;
}

/** Acts that stop agents and let them go on. */
export interface AdminFreezes {
  readonly targetOf: (sessionId: string) => Promise<AdminFreezeTarget>;
  readonly kill: (target: AdminFreezeTarget, reason: string) => Promise<AdminFreeze>;
  readonly resume: (target: AdminFreezeTarget, reason: string) => Promise<AdminFreeze>;
  /** Freezes, and the sessions that are frozen for themselves. */
  readonly list: () => Promise<{ readonly freezes: readonly AdminFreeze[]; readonly sessions: readonly Session[] }>;
  readonly freezeSession: (id: string, reason: string) => Promise<Session>;
  readonly review: (id: string) => Promise<AdminReview>;
  readonly resumeSession: (
    id: string,
    reason: string,
  ) => Promise<{ readonly session: Session; readonly lifted?: AdminFreeze; readonly remaining?: AdminFreeze }>;
}

/** The operator's acts. Failures are `KernelError`s. */
export interface AdminPort {
  /** Whether `token` is the admin credential; in constant time, and a wrong one is recorded. */
  readonly authenticate: (token: string) => Promise<boolean>;
  /** Whether `token` is an approver's credential; in constant time, and a wrong one is recorded. */
  readonly authenticateApprover: (token: string) => Promise<boolean>;
  readonly approvals: AdminApprovals;
  readonly freezes: AdminFreezes;
  /** Judges by the credential again whether the operator asks. */
  readonly createSession: (
    wish: AdminSessionWish,
    credential: string,
  ) => Promise<{ readonly session: Session; readonly token: string }>;
  readonly listSessions: () => Promise<readonly Session[]>;
  readonly revokeSession: (id: string) => Promise<Session>;
  readonly createLease: (scope: LeaseScope, lifetimeMs: number, budget: LeaseBudget) => Promise<Lease>;
  readonly deriveLease: (
    parentId: string,
    wish: { readonly scope: LeaseScope; readonly lifetimeMs: number; readonly budget: LeaseBudget },
  ) => Promise<Lease>;
  readonly listLeases: () => Promise<readonly Lease[]>;
  readonly renewLease: (id: string, lifetimeMs: number) => Promise<Lease>;
  readonly releaseLease: (id: string) => Promise<Lease>;
  /** Arms one session, or all; times in milliseconds since the epoch. */
  readonly arm: (sessionId: string | undefined, durationMs: number) => Promise<AdminArming>;
  /** Resolves with what is still armed. */
  readonly disarm: (sessionId: string | undefined) => Promise<readonly AdminArming[]>;
  /** At most `count` entries from a sequence on; the last ones when it is 0. */
  readonly entries: (
    from: number,
    count: number,
  ) => Promise<{ readonly records: readonly AdminLedgerRecord[]; readonly head: number }>;
  readonly verifyLedger: (signal: AbortSignal) => Promise<AdminVerification>;
  readonly checkPolicy: (
    preset: string | undefined,
  ) => Promise<{ readonly ok: boolean; readonly presets: readonly AdminPresetCheck[] }>;
  readonly health: () => AdminHealth;
}
