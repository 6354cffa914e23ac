/**
 * Lets people look at requests for approval, decide them and take an approval back.
 *
 * It works on top of an open kernel's approvals.
 *
 * Trusts an approver's credential alone: whoever has none, and every session, only looks. Which of two decisions stands
 * is the store's to say. INVARIANTS: a wrong credential is recorded and decides nothing; every decision is recorded
 * with whose credential it was, never what somebody says, and over which channel.
 */
import { stripVTControlCharacters } from "node:util";
import type { Approvals } from "../../approval/approvals.ts";
import type {
  ApprovalState,
  ApprovalStore,
  DecideOutcome,
  StoredApproval,
} from "../../approval/requests/approval-store.ts";
import type { Clock } from "../../base/clock.ts";
import { usageError } from "../../base/errors.ts";
import { APPROVAL_REASON_CHARACTERS_MAX } from "../../base/limits.ts";
import type { MaintainedContentStore } from "../../cas/content-store.ts";
import { type ApprovalChannel, type ApprovalScope, isLasting } from "../../model/approval/approval.ts";
import { readApprovalDocument } from "../../model/approval/approval-document.ts";
import type { Bell, StopListening } from "../../model/outcome/bell.ts";
import type { Denial } from "../../model/outcome/decision.ts";

/** Requests that one listing returns. */
export const APPROVALS_LISTED_MAX = 1000;

/** Milliseconds that an approval may last: a year. */
const LASTING_MAX_MS = 366 * 24 * 3_600_000;

const PREFIX = /^(?:blake3:)?([0-9a-f]{4,64})$/;

/** Which requests are wanted. */
export interface ApprovalSelection {
  readonly state?: ApprovalState;
}

/** What is decided. */
export interface WantedDecision {
  readonly approved: boolean;
  /** Of an approval; one execution when absent. */
  readonly scope?: ApprovalScope;
  readonly reason?: string;
  /** `cli` when absent. */
  readonly channel?: Extract<ApprovalChannel, "cli" | "rpc" | "console">;
}

/** What is found by a reference or the beginning of one. */
export type FoundApproval =
  | { readonly kind: "found"; readonly approval: StoredApproval }
  | { readonly kind: "ambiguous" }
  | { readonly kind: "unknown" };

/** What came of a person's decision; `by` is whose credential it was. */
export type PersonsOutcome = (DecideOutcome & { readonly by: string }) | { readonly kind: "wrong_credential" };

/**
 * The list of a request: verified bytes of it (`effect-list.ts`), `whole` where the request itself shows everything,
 * `unlisted` where none could be kept, `gone` where it is kept no longer.
 */
export type FoundEffects =
  | { readonly kind: "list"; readonly bytes: number; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: "unlisted"; readonly why: string }
  | { readonly kind: "whole" | "gone" | "unreadable" | "wrong_credential" };

/** The approvals of one state directory, for people. */
export interface ApprovalActs {
  /** The newest first, at most `APPROVALS_LISTED_MAX`. */
  readonly list: (selection?: ApprovalSelection) => Promise<readonly StoredApproval[]>;
  /** By `blake3:<hash>`, by the hash, or by the beginning of either. */
  readonly find: (refOrPrefix: string) => Promise<FoundApproval>;
  /** @throws KernelError USAGE for a scope or reason that cannot be */
  readonly decide: (ref: string, wanted: WantedDecision, credential: string) => Promise<PersonsOutcome>;
  /** Takes an approval or a request back: as if it had been denied. */
  readonly revoke: (ref: string, credential: string, reason?: string) => Promise<PersonsOutcome>;
  /**
   * The list of all effects about which a request asks, where it shows a part of them; recorded where the credential is
   * no approver's.
   */
  readonly effects: (approval: StoredApproval, credential: string) => Promise<FoundEffects>;
  /** `listener` is called after something may have changed, from any process. */
  readonly watch: (listener: () => void) => Promise<StopListening>;
}

/** What the acts work on. */
export interface ApprovalActsParts {
  readonly approvals: Approvals;
  readonly store: Pick<ApprovalStore, "list" | "findByPrefix">;
  readonly bell: Pick<Bell, "listen">;
  readonly clock: Clock;
  /** Whose credential it is; `undefined` when it is nobody's. */
  readonly approverOf: (credential: string) => Promise<string | undefined>;
  readonly recordRefusal: (denial: Denial) => Promise<void>;
  /** Where lists of effects are kept. */
  readonly content: Pick<MaintainedContentStore, "read" | "maintenance">;
}

const WRONG_CREDENTIAL: Denial = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "APPROVER:credential",
  message: "this is no approver's credential; make one with `handrail approvers add NAME`",
};

/** The acts on an open kernel's approvals. */
export function approvalActs(parts: ApprovalActsParts): ApprovalActs {
  const { approvals, store, bell, clock } = parts;
  const decide = async (ref: string, wanted: WantedDecision, credential: string): Promise<PersonsOutcome> => {
    const by = await parts.approverOf(credential);
    if (by === undefined) {
      await parts.recordRefusal(WRONG_CREDENTIAL);
      return { kind: "wrong_credential" };
    }
    const { approved, channel = "cli" } = wanted;
    const reason = checkedReason(wanted.reason);
    const scope = approved ? checkedScope(wanted.scope ?? { kind: "once" }, clock.nowMs()) : undefined;
    const asked = scope === undefined || scope.kind === "once" ? undefined : await approvals.find(ref);
    if (asked !== undefined && isLasting(scope) && asked.kind === "")
      throw usageError("this call is of no kind that can be answered for; approve this very call");
    const isOfSession = scope?.kind === "session" || scope?.kind === "kind";
    if (asked !== undefined && isOfSession && (await approvals.isOfOneCall(asked)))
      throw usageError("the session was made for this one call; approve one execution, or a time such as 15m");
    const outcome = await approvals.decide(ref, {
      approved,
      by,
      channel,
      ...(scope && { scope }),
      ...(reason !== undefined && { reason }),
    });
    return { ...outcome, by };
  };
  return {
    async list({ state } = {}) {
      const settled = await approvals.settle(await store.list(state, APPROVALS_LISTED_MAX, clock.nowMs()));
      return settled.filter((one) => state === undefined || one.state === state);
    },
    async find(refOrPrefix) {
      const prefix = PREFIX.exec(refOrPrefix)?.[1];
      if (prefix === undefined) return { kind: "unknown" };
      const [first, second] = await store.findByPrefix(prefix, clock.nowMs());
      if (first === undefined) return { kind: "unknown" };
      if (second !== undefined) return { kind: "ambiguous" };
      const [now = first] = await approvals.settle([first]);
      return found(now);
    },
    decide,
    revoke: (ref, credential, reason) =>
      decide(ref, { approved: false, ...(reason !== undefined && { reason }) }, credential),
    effects: (approval, credential) => effectsOf(parts, approval, credential),
    watch: (listener) => bell.listen("approvals", listener),
  };
}

async function effectsOf(
  { approverOf, recordRefusal, content }: ApprovalActsParts,
  { ref, document }: StoredApproval,
  credential: string,
): Promise<FoundEffects> {
  if ((await approverOf(credential)) === undefined) {
    await recordRefusal(WRONG_CREDENTIAL);
    return { kind: "wrong_credential" };
  }
  const request = readApprovalDocument(ref, document);
  if (request === undefined) return { kind: "unreadable" };
  const { effects } = request.details;
  if (effects === undefined) return { kind: "whole" };
  if (effects.list === undefined) return { kind: "unlisted", why: effects.unlisted ?? "" };
  const { hash, bytes } = effects.list;
  if ((await (await content.maintenance()).sizeOf(hash)) === undefined) return { kind: "gone" };
  return { kind: "list", bytes, chunks: content.read(hash, { offset: 0, length: bytes }, "lent") };
}

function found(approval: StoredApproval) {
  return { kind: "found", approval } as const;
}

function checkedReason(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  if (reason.length > APPROVAL_REASON_CHARACTERS_MAX)
    throw usageError(`a reason has at most ${APPROVAL_REASON_CHARACTERS_MAX} characters; shorten it`);
  return stripVTControlCharacters(reason).toWellFormed();
}

function checkedScope(scope: ApprovalScope, nowMs: number): ApprovalScope {
  if (!("untilMs" in scope)) return scope;
  if (scope.untilMs > nowMs + LASTING_MAX_MS)
    throw usageError("an approval lasts a year at most; name an earlier time, and look at it again then");
  if (Number.isSafeInteger(Math.floor(scope.untilMs)) && scope.untilMs > nowMs) return scope;
  throw usageError("an approval until a time needs one that is still to come; name a later time");
}
