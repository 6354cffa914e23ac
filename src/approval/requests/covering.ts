/**
 * Finds the lasting answer that covers a call which asks. Pure.
 *
 * INVARIANT: an answer covers a call only where everything that asks about it is among what the answer's request named,
 * bound by digest, for the session or the project that was answered for, and where nothing has been seen since that
 * weighs more: data of a higher class, or, where files change, content that is less trusted.
 */
import { type Coverage, isLasting } from "../../model/approval/approval.ts";
import { readApprovalDocument } from "../../model/approval/approval-document.ts";
import { isAtLeast, lowerTrust, type Mark } from "../../model/outcome/label.ts";
import type { StoredApproval } from "./approval-store.ts";

/** A call that asks, as far as lasting answers go by. */
export interface KindOfCall {
  readonly covers: readonly Coverage[];
  readonly sessionId: string;
  /** What was seen before it. */
  readonly mark: Mark;
}

/** The first of `answers` that covers the call; `undefined` where none does, or the call has no kind. */
export function coveringOf(answers: readonly StoredApproval[], kind: KindOfCall): StoredApproval | undefined {
  return kind.covers.length === 0 ? undefined : answers.find((answer) => coversCall(answer, kind));
}

function coversCall({ ref, document, state, decision, sessionId }: StoredApproval, kind: KindOfCall): boolean {
  if (state !== "approved" || !isLasting(decision?.scope)) return false;
  if (decision?.scope?.kind === "kind" && sessionId !== kind.sessionId) return false;
  const request = readApprovalDocument(ref, document);
  if (request === undefined) return false;
  const { covers = [], seen } = request.details;
  const named = new Set(covers.map(({ digest }) => digest));
  if (!kind.covers.every(({ digest }) => named.has(digest))) return false;
  if (!isAtLeast(seen.dataClass, kind.mark.dataClass)) return false;
  const isNetworkAlone = kind.covers.every(({ effect }) => effect === "network");
  return isNetworkAlone || lowerTrust(seen.trustLevel, kind.mark.trustLevel) === seen.trustLevel;
}
