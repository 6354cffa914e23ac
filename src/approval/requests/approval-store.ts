/**
 * Port: requests for approval and what became of them, shared by all kernels of a state directory.
 *
 * A request waits (`pending`) until somebody decides, until it expires, or until what it was about has changed
 * (`void`). An approval that covers one execution is `consumed` by it. INVARIANTS: a request is decided once, and every
 * change is one transaction that names the state it starts from; of all calls of all kernels exactly one consumes an
 * approval of one execution; a time limit holds whether or not anybody has noted that it has passed.
 */
import type { ApprovalChannel, ApprovalScope } from "../../model/approval/approval.ts";

/** States of a request. */
export const APPROVAL_STATES = ["pending", "approved", "denied", "expired", "consumed", "void"] as const;
/** One of them. */
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Whose calls are asked about, and where: what prompts are limited by. */
export interface ApprovalOwner {
  readonly userId: string;
  readonly agentId: string;
  readonly serviceRoot: string;
}

/** What was decided, by whom, over which channel. Times are milliseconds since the Unix epoch. */
export interface ApprovalDecision {
  readonly approved: boolean;
  readonly by: string;
  readonly channel: ApprovalChannel;
  readonly atMs: number;
  /** Of an approval. */
  readonly scope?: ApprovalScope;
  readonly reason?: string;
}

/** A new request. */
export interface NewApproval extends ApprovalOwner {
  /** `blake3:` and 64 hexadecimal digits: the digest of `document`. */
  readonly ref: string;
  /** Digest of who calls what: requests of the same call share it, whatever else has changed. */
  readonly call: string;
  /** Digest of everything that the approval is bound to. */
  readonly binding: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** No approval outlives the session that it was asked for. */
  readonly sessionEndsAtMs: number;
  /** The request as people see it: canonical JSON. */
  readonly document: string;
  /** What a decision file has to repeat. */
  readonly code: string;
  /** May be answered by the client that asks, if the operator says that a person attends it. */
  readonly inBand: boolean;
  /** Names the session and the kind of the call, for other calls of that kind to join; empty where it has none. */
  readonly kind: string;
}

/** A request as stored. */
export interface StoredApproval extends NewApproval {
  /** As it is at the time of the look: a request whose time has passed is `expired`. */
  readonly state: ApprovalState;
  readonly decision?: ApprovalDecision;
  /** Executions that it has let through. */
  readonly uses: number;
  /** The request that used it last. */
  readonly usedBy?: string;
  /** Answers that the asking client gave, whether or not they decided anything. */
  readonly inBandAnswers: number;
  /** Other calls of its kind that came while it waited. */
  readonly joined: number;
}

/** What came of adding a request. */
export type AddOutcome =
  | { readonly kind: "added" }
  /** One with the same binding lives already, or expired without anybody having noted it. */
  | { readonly kind: "shared"; readonly approval: StoredApproval }
  /** One of the same kind waits already, which is about another call. */
  | { readonly kind: "joined"; readonly approval: StoredApproval }
  /** People are asked too much; there is room again after that time at the earliest. */
  | { readonly kind: "crowded"; readonly retryAfterMs: number };

/** A use of an approval, by one request. */
export interface ApprovalUse {
  readonly ref: string;
  readonly binding: string;
  readonly requestId: string;
}

/** What came of a decision. */
export type DecideOutcome =
  | { readonly kind: "decided"; readonly approval: StoredApproval }
  /** Something else holds already, or it is over. */
  | { readonly kind: "stands"; readonly approval: StoredApproval }
  | { readonly kind: "unknown" };

/** How many requests people can be asked at a time. */
export interface AskingLimits {
  readonly pendingMax: number;
  readonly perMinuteMax: number;
  readonly perHourMax: number;
  readonly pendingTotalMax: number;
}

/** What a sweep did. */
export interface Swept {
  /** Requests that had expired and now say so. */
  readonly expired: readonly StoredApproval[];
  /** References of requests that were forgotten. */
  readonly forgotten: readonly string[];
}

/** A store of approvals. Failures are `KernelError`s: `STORE_UNAVAILABLE` or `STORE_CORRUPT`. */
export interface ApprovalStore {
  /** Requests of a call that are not over, and those that expired without anybody having noted it; the oldest first. */
  readonly live: (call: string, nowMs: number) => Promise<readonly StoredApproval[]>;
  readonly find: (ref: string, nowMs: number) => Promise<StoredApproval | undefined>;
  /** At most two requests whose digest begins with `prefix` (hexadecimal digits). */
  readonly findByPrefix: (prefix: string, nowMs: number) => Promise<readonly StoredApproval[]>;
  /** Requests in a state, or all of them, the newest first. */
  readonly list: (state: ApprovalState | undefined, limit: number, nowMs: number) => Promise<readonly StoredApproval[]>;
  /** Milliseconds until a new request of `owner` may be added; 0 when it may be now. */
  readonly room: (owner: ApprovalOwner, limits: AskingLimits, nowMs: number) => Promise<number>;
  /** @param mayJoin whether a call may join another request of its kind, which is counted; none where absent */
  readonly add: (
    approval: NewApproval,
    limits: AskingLimits,
    mayJoin?: (ref: string) => boolean,
  ) => Promise<AddOutcome>;
  /** Approvals of an owner that cover more than one call, the oldest first. */
  readonly lasting: (owner: ApprovalOwner, nowMs: number) => Promise<readonly StoredApproval[]>;
  /** Notes that the ledger has the request. */
  readonly noteRecorded: (ref: string) => Promise<void>;
  /** Whether that was noted. */
  readonly isRecorded: (ref: string) => Promise<boolean>;
  /**
   * Decides a pending request. A denial also takes back an approval that still lets something through. Durable once
   * resolved.
   */
  readonly decide: (ref: string, decision: ApprovalDecision) => Promise<DecideOutcome>;
  /**
   * Uses an approval with this binding for one execution; false when it lets none through any more. Durable once
   * resolved.
   */
  readonly consume: (use: ApprovalUse, nowMs: number) => Promise<boolean>;
  /**
   * Counts an answer of the asking client; false when there were others than `before` before it, or there is no such
   * request.
   */
  readonly countInBandAnswer: (ref: string, before: number) => Promise<boolean>;
  /** Takes a use back that came to nothing; false when it was not the last one. */
  readonly giveBack: (ref: string, requestId: string) => Promise<boolean>;
  /**
   * Ends a request or an approval that lets nothing through any more, as `expired` or as `void`; false when it is over
   * already.
   */
  readonly end: (ref: string, state: "expired" | "void") => Promise<boolean>;
  /** Notes what has expired and forgets what was over before a time, at most `limit` of each. */
  readonly sweep: (nowMs: number, forgetBeforeMs: number, limit: number) => Promise<Swept>;
  readonly close: () => Promise<void>;
}
