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

/** Who asks: `USER/AGENT`, as the request has it. */
export function agentOf(approval: Approval): string {
  const agentId = readApprovalDocument(approval.ref, approval.document)?.details.agentId ?? approval.agentId;
  return visibleLine(`${approval.userId}/${agentId}`);
}

/** What a request is about, in a few words of the agent: what it would change or reach, else the first of it all. */
export function targetOf(approval: Approval): string {
  const { accesses = [], changes = [] } = readApprovalDocument(approval.ref, approval.document)?.details ?? {};
  const named = accesses.flatMap((access) => {
    const name = TARGET_MEMBERS.map((member) => access[member]).find((value) => typeof value === "string");
    return typeof name === "string" && name !== "" ? [{ name, reads: access["effect"] === "read" }] : [];
  });
  const first = named.find(({ reads }) => !reads)?.name ?? changes[0]?.path ?? named[0]?.name;
  if (first === undefined) return "-";
  const others = new Set(named.map(({ name }) => name)).size - 1;
  const shown = visibleLine(first);
  const cut = shown.length > TARGET_CHARACTERS_MAX ? `${shown.slice(0, TARGET_CHARACTERS_MAX).toWellFormed()}…` : shown;
  return others > 0 ? `${cut} and ${others} more` : cut;
}

/** Members of an access that name what it is about, the more telling first. */
const TARGET_MEMBERS = ["line", "path", "host", "ref", "model", "name", "binary"] as const;
/** Characters of a target in a list. */
const TARGET_CHARACTERS_MAX = 60;

/** How a request stands, in words. */
export function standingOf(
  { state, createdAtMs, expiresAtMs, decision, uses, joined }: Approval,
  nowMs: number,
): string {
  const asked = `asked ${durationOf(nowMs - createdAtMs)} ago`;
  const others = joined === 0 ? "" : `, ${joined} more of its kind ${joined === 1 ? "waits" : "wait"} for the answer`;
  if (state === "pending") return `${state}, ${asked}, expires in ${durationOf(expiresAtMs - nowMs)}${others}`;
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
    case "kind":
      return "for all calls of its kind, for the session";
    case "project":
      return `for all calls of its kind in this workspace, until ${new Date(scope.untilMs).toISOString()}`;
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
export function approvalJson(approval: Approval): JsonObject {
  const { ref, state, document, decision, uses, joined } = approval;
  return {
    approval_ref: ref,
    state,
    agent: agentOf(approval),
    workspace: approval.serviceRoot,
    target: targetOf(approval),
    uses,
    joined,
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
