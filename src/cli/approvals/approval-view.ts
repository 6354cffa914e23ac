/**
 * Requests for approval as the command line shows them. Pure.
 *
 * INVARIANT: what is shown is what the reference names; a request that cannot be shown in full is not shown at all, and
 * says so. The one-time code of decision files is shown to nobody.
 */
import type { JsonObject } from "../../base/json.ts";
import { readApprovalDocument } from "../../model/approval/approval-document.ts";
import { type PromptLine, promptLines } from "../../model/approval/prompt-lines.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { visibleLine } from "../../text/foreign-text.ts";

/** A request as it is kept. */
export type Approval = Awaited<ReturnType<OpenKernel["approvals"]["list"]>>[number];

/** The lines of a request: how it stands, then what is asked. */
export function approvalLines(approval: Approval, nowMs: number): readonly PromptLine[] {
  const request = readApprovalDocument(approval.ref, approval.document);
  const standing: PromptLine[] = [kernel(`request ${approval.ref}`), kernel(standingOf(approval, nowMs))];
  return request === undefined
    ? [
        ...standing,
        { by: "kernel", kind: "warning", text: "the request cannot be read: deny it, and tell the operator" },
      ]
    : [...promptLines(request, approval.ref), { by: "kernel", kind: "heading", text: "the request" }, ...standing];
}

/** Whether people can see what they would approve. */
export function isReadable(approval: Approval): boolean {
  return readApprovalDocument(approval.ref, approval.document) !== undefined;
}

/** One line about a request: the kernel's summary. */
export function summaryOf(approval: Approval): string {
  return visibleLine(readApprovalDocument(approval.ref, approval.document)?.summary ?? "a request that cannot be read");
}

/** How a request stands, in words. */
export function standingOf({ state, createdAtMs, expiresAtMs, decision, uses }: Approval, nowMs: number): string {
  const asked = `asked ${durationOf(nowMs - createdAtMs)} ago`;
  if (state === "pending") return `${state}, ${asked}, expires in ${durationOf(expiresAtMs - nowMs)}`;
  if (decision === undefined) return `${state}, ${asked}`;
  const { by, channel, atMs, scope, reason } = decision;
  const why = reason === undefined ? "" : `: ${visibleLine(reason)}`;
  const used = uses === 0 ? "" : `, used ${uses === 1 ? "once" : `${uses} times`}`;
  const until = scope === undefined || !decision.approved ? "" : ` ${scopeOf(scope)}`;
  return `${state}, ${asked}; ${decision.approved ? `approved${until}` : "denied"} by ${visibleLine(by)} over ${channel} ${durationOf(nowMs - atMs)} ago${used}${why}`;
}

/** A scope in words. */
export function scopeOf(scope: NonNullable<NonNullable<Approval["decision"]>["scope"]>): string {
  switch (scope.kind) {
    case "once":
      return "for one execution";
    case "session":
      return "for the session";
    case "until":
      return `until ${new Date(scope.untilMs).toISOString()}`;
  }
}

/** A time span that people read: its largest unit. */
export function durationOf(spanMs: number): string {
  const seconds = Math.max(0, Math.floor(spanMs / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** A request for programs: without the code that only decision files repeat. */
export function approvalJson({ ref, state, document, decision, uses }: Approval): JsonObject {
  return {
    approval_ref: ref,
    state,
    uses,
    ...(decision && {
      decision: {
        approved: decision.approved,
        by: decision.by,
        channel: decision.channel,
        at_ms: decision.atMs,
        ...(decision.scope && { scope: { ...decision.scope } }),
        ...(decision.reason !== undefined && { reason: decision.reason }),
      },
    }),
    // Nobody is shown a request that is not what its reference names.
    request: readApprovalDocument(ref, document) === undefined ? null : (JSON.parse(document) as JsonObject),
  };
}

function kernel(text: string): PromptLine {
  return { by: "kernel", kind: "fact", text };
}
