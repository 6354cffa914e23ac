/**
 * Obtains the approval of a call in the pipeline.
 *
 * It looks up what stands about the call, asks people, waits, looks at everything again and uses what was allowed.
 *
 * INVARIANTS: A call that asks goes on only with an approval that fits it in every byte, used for this one execution.
 * What was looked at before a wait is looked at again after it. Whatever cannot be looked at, recorded or asked denies
 * the call.
 */
import { requiredDenial, stagedDenial } from "../../approval/approval.ts";
import type { Asked } from "../../approval/asking.ts";
import { mayBeAnsweredInBand } from "../../approval/in-band.ts";
import type { ApprovalOwner, StoredApproval } from "../../approval/requests/approval-store.ts";
import type { KindOfCall } from "../../approval/requests/covering.ts";
import { requestIn, type Wanted } from "../../approval/requests/request.ts";
import { KernelError } from "../../base/errors.ts";
import { type Coverage, isLasting } from "../../model/approval/approval.ts";
import { shortRef } from "../../model/approval/prompt-lines.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { FileAccess } from "../../model/place/files.ts";
import { createFileAccess } from "../../sandbox/files/files.ts";
import type { Kernel } from "../answer/kernel.ts";
import type { Ended } from "../call/ended.ts";
import type { KernelParts } from "../call/parts.ts";
import { ApprovedTargets } from "../call/pre-image.ts";
import type { Granted } from "../call/stages.ts";
import type { Waiter } from "../call/submission.ts";
import { unanalysed } from "../judge/scope.ts";
import { about, deniedBy, FAILED, FORGED, invalid } from "./approval-denials.ts";
import { describeCall } from "./approval-text/prompt.ts";
import { isDanger } from "./approval-text/prompt-risks.ts";
import { sentTexts } from "./approval-text/sent-texts.ts";
import { asksIn, type BoundAsk, bindAsk, filesBefore, runsPrograms } from "./bind-ask.ts";
import { coverageOf } from "./kind.ts";
import { stillAllowed } from "./recheck.ts";

/** How the call ends here, or `undefined` when it goes on: at once when nobody asks. */
export function approve({ parts }: Kernel, granted: Granted, waiter: Waiter): undefined | Promise<Ended | undefined> {
  const { obligations } = granted.ruling;
  if (obligations.every(({ obligation }) => obligation === "arm")) return undefined;
  const staged = stagedDenial(granted.tool.name, obligations);
  if (staged) return Promise.resolve(denial(staged));
  return failingClosed(parts, () => approveAsked(parts, granted, { waiter, joins: true })).then((end) =>
    named(end, granted),
  );
}

/** A refusal for want of approval says which kind was asked for. */
function named(end: Ended | undefined, { tool, ruling }: Granted): Ended | undefined {
  if (end?.kind !== "denial" || end.denial.layer !== "approval") return end;
  const kind = isDanger(asksIn(ruling.obligations)) ? "danger" : "execute";
  return denial({ ...end.denial, approvalId: `${tool.name}:${kind}` });
}

/**
 * A store that is down, or a prompt that cannot be made, denies. That the ledger takes nothing is said as everywhere.
 */
async function failingClosed(parts: KernelParts, work: () => Promise<Ended | undefined>): Promise<Ended | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return denial(error.denial);
    if (error instanceof ToolFailure) return { kind: "failure", failure: error };
    if (error instanceof KernelError && error.code === "LEDGER_UNAVAILABLE") throw error;
    parts.onInternalError(error);
    return denial(FAILED);
  }
}

async function approveAsked(
  parts: KernelParts,
  granted: Granted,
  { waiter, joins }: Pick<Asking, "joins"> & { readonly waiter: Waiter },
): Promise<Ended | undefined> {
  const bound = await bindAsk(parts, granted, waiter.signal);
  const standing = await parts.approvals.look(bound);
  if (standing.kind === "granted") return use(parts, granted, { bound, approval: standing.approval });
  if (standing.kind === "denied" || standing.kind === "forged" || standing.kind === "damaged")
    return denial(deniedBy(standing.kind, standing.approval));
  const covers = coverageOf(parts, granted);
  const lasting = await parts.approvals.lastingFor(ownerOf(granted), kindOf(granted, covers));
  if (lasting !== undefined) {
    if (standing.kind === "pending") await parts.approvals.close(standing.approval, "void");
    return use(parts, granted, { bound, approval: lasting });
  }
  if (standing.kind !== "pending" && standing.kind !== "none")
    return denial(deniedBy(standing.kind, standing.approval));
  const asked: Asked | ToolFailure =
    standing.kind === "pending"
      ? { kind: "asked", approval: standing.approval }
      : await ask(parts, granted, { bound, covers, joins, signal: waiter.signal });
  if (asked instanceof ToolFailure) return { kind: "failure", failure: asked };
  const { approval } = asked;
  const isOther = asked.kind === "joined";
  waiter.onAsked?.({ ref: approval.ref, summary: requestIn(approval).summary });
  const end = await parts.approvals.wait(approval, waiter.signal, isOther ? undefined : waiter.inBand);
  switch (end.kind) {
    case "settled":
      return isOther || isLasting(end.approval.decision?.scope)
        ? settledByKind(parts, granted, { approval: end.approval, waiter })
        : settled(parts, granted, { approval: end.approval, signal: waiter.signal });
    case "cancelled":
      return { kind: "failure", failure: CANCELLED };
    case "late":
      return denial({
        ...requiredDenial(granted.tool.name, bound.firstRule, later(approval.ref)),
        approvalRef: approval.ref,
      });
    case "failed":
      return denial(about(FAILED, approval.ref));
    case "forged":
      return denial(about(FORGED, approval.ref));
  }
}

/** What was said of the kind: a refusal is one of this call, too; else it may be covered, or asks for itself. */
async function settledByKind(
  parts: KernelParts,
  granted: Granted,
  { approval, waiter }: { readonly approval: StoredApproval; readonly waiter: Waiter },
): Promise<Ended | undefined> {
  if (approval.state === "denied") return denial(deniedBy("denied", approval));
  const still = await stillAllowed(parts, granted);
  if (!still.ok) return denial(still.denial);
  const now: Granted = { ...granted, ...still.value };
  return asksIn(now.ruling.obligations).length === 0
    ? denial(invalid(approval.ref))
    : approveAsked(parts, now, { waiter, joins: false });
}

function ownerOf({ session: { userId, agentId, serviceRoot } }: Granted): ApprovalOwner {
  return { userId, agentId, serviceRoot };
}

function kindOf({ session, caller }: Granted, covers: readonly Coverage[]): KindOfCall {
  return { covers, sessionId: session.id, mark: caller.mark };
}

/** A call about which people are asked. */
interface Asking {
  readonly bound: BoundAsk;
  readonly covers: readonly Coverage[];
  /** Whether it may wait for the answer to another call of its kind. */
  readonly joins: boolean;
  readonly signal: AbortSignal;
}

/** Asks people; they see the files as they are after the digests were taken. */
async function ask(
  parts: KernelParts,
  granted: Granted,
  { bound, covers, joins, signal }: Asking,
): Promise<Exclude<Asked, { kind: "crowded" }> | ToolFailure> {
  const { tool, session, accesses, requestId, ruling } = granted;
  const { obligations } = ruling;
  const asks = asksIn(obligations);
  const wanted: Wanted = {
    call: bound.call,
    binding: bound.binding,
    caller: { ...session, sessionId: session.id, sessionEndsAtMs: session.expiresAtMs },
    requestId,
    tool: tool.name,
    rules: asks.map(({ ruleId }) => ruleId),
    inBand: mayBeAnsweredInBand(
      tool,
      accesses,
      obligations.map(({ obligation }) => obligation),
    ),
    covers,
    describe: async () => {
      const rules = asks.map(({ ruleId, reason }) => ({ ruleId, ...(reason !== undefined && { rationale: reason }) }));
      const files = namedFiles(createFileAccess(filesBefore(parts, granted, { signal })), granted);
      const containedBy = runsPrograms(granted) ? parts.sandbox.backend() : undefined;
      const sent = await sentTexts(parts, { ...granted, nowMs: parts.clock.nowMs() });
      const broker = parts.secrets.brokerBy(granted.redaction.by);
      const secretsFor = (host: string, port: number) => broker?.boundTo(host, port).map(({ name }) => name) ?? [];
      return await describeCall(granted, rules, { files, containedBy, secretsFor, sent, covers });
    },
  };
  const asked = await parts.approvals.ask(wanted, joins);
  if (asked.kind !== "crowded") return asked;
  const message = "people are asked about too many calls already, so this one was refused";
  return new ToolFailure("RATE_LIMITED", message, {
    suggestion: "wait for answers, or for the time that is named",
    retryAfterMs: asked.retryAfterMs,
  });
}

/** Files that the call names: what it does not name was never judged. */
function namedFiles(files: Pick<FileAccess, "read">, { tool, accesses }: Granted): Pick<FileAccess, "read"> {
  return {
    read(path, options) {
      if (accesses.some(({ resource }) => resource.kind === "file" && resource.path === path))
        return files.read(path, options);
      throw new Refusal(unanalysed(tool.name, "read"));
    },
  };
}

/** After a wait everything is looked at again: a session, a rule or a file may have changed while somebody decided. */
async function settled(
  parts: KernelParts,
  granted: Granted,
  { approval, signal }: { readonly approval: StoredApproval; readonly signal: AbortSignal },
): Promise<Ended | undefined> {
  const { state, ref } = approval;
  if (state === "expired") await parts.approvals.close(approval, "expired");
  if (state === "pending") return denial(FAILED);
  if (state !== "approved" && state !== "void") return denial(deniedBy(state, approval));
  // a request is void where its session has ended, too: then that is what is said
  const still = await stillAllowed(parts, granted);
  if (!still.ok) return denial(still.denial);
  if (state === "void") return denial(deniedBy("changed", approval));
  const now: Granted = { ...granted, ...still.value };
  const bound = asksIn(now.ruling.obligations).length === 0 ? undefined : await bindAsk(parts, now, signal);
  if (bound?.binding === approval.binding) return use(parts, granted, { bound, approval });
  await parts.approvals.close(approval, "void");
  return denial(invalid(ref));
}

/** Uses an approval for this call, or says what has become of it since. */
async function use(
  parts: KernelParts,
  granted: Granted,
  { bound, approval }: { readonly bound: BoundAsk; readonly approval: StoredApproval },
): Promise<Ended | undefined> {
  const { ref } = approval;
  const { tool, holdings, requestId } = granted;
  // From then on the call has the approval, and gives it back if it never begins.
  const isOfKind = isLasting(approval.decision?.scope);
  const take = () => {
    const targets = new ApprovedTargets(bound.preImages, parts.argumentsKey, isOfKind ? "places" : "contents");
    holdings.takeApproval({ ref, id: `${tool.name}:${bound.kind}`, rules: bound.rules, targets });
  };
  // a lasting answer fits by its kind, not by the binding of this call
  const binding = isOfKind ? approval.binding : bound.binding;
  if (await parts.approvals.consume(approval, { binding, requestId }, take)) return undefined;
  const now = await parts.approvals.find(ref);
  if (now?.state === "denied" || now?.state === "expired") return denial(deniedBy(now.state, now));
  if (now?.state === "void") return denial(deniedBy("changed", now));
  return denial({ ...requiredDenial(tool.name, bound.firstRule, TAKEN), approvalRef: ref });
}

/** The reference stands in the text too: models see that alone, and are to tell it to people. */
function later(ref: string): string {
  return `and nobody has given it yet: the request is ${shortRef(ref)}, which a person approves with \`handrail approve ${shortRef(ref)}\`; tell them, then send the very same call again, or choose another way`;
}

const TAKEN = "and the one that was given has been used by another call; send it again to ask anew";
const CANCELLED = new ToolFailure(
  "CANCELLED",
  "the call was cancelled while it waited for approval",
  "send it again if it is still wanted",
);

function denial(refused: Denial): Ended {
  return { kind: "denial", denial: refused };
}
