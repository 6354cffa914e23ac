/**
 * Approval as the pipeline meets it: what stands about the call, asking people, waiting, looking at everything again, and using what
 * was allowed.
 *
 * INVARIANTS: a call that asks goes on only with an approval that fits it in every byte, used for this one execution; what was looked at
 * before a wait is looked at again after it; whatever cannot be looked at, recorded or asked denies.
 */
import { type ImposedObligation, requiredDenial, stagedDenial } from "../../approval/approval.ts";
import type { StoredApproval } from "../../approval/approval-store.ts";
import { mayBeAnsweredInBand } from "../../approval/in-band.ts";
import { assert, KernelError } from "../../base/errors.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { FileAccess } from "../../model/place/files.ts";
import type { PolicyEngine } from "../../policy/policy.ts";
import { createFileAccess } from "../../sandbox/files/files.ts";
import type { Ended } from "../call/ended.ts";
import type { KernelParts } from "../call/parts.ts";
import { ApprovedTargets } from "../call/pre-image.ts";
import type { Waiter } from "../call/submission.ts";
import type { Trail } from "../call/trail.ts";
import type { Decided } from "../judge/decide.ts";
import { unanalysed } from "../judge/scope.ts";
import { deniedBy, FAILED, FORGED, invalid } from "./approval-denials.ts";
import { type BoundAsk, bindAsk, filesBefore, runsPrograms } from "./bind-ask.ts";
import { describeCall } from "./prompt.ts";
import { stillAllowed } from "./recheck.ts";

/** How the call ends here, or `undefined` when it goes on: at once when nobody asks. */
export function approve(
  parts: KernelParts,
  trail: Trail,
  policy: PolicyEngine,
  { obligations }: Decided,
  waiter: Waiter,
): undefined | Promise<Ended | undefined> {
  if (obligations.every(({ obligation }) => obligation === "arm")) return undefined;
  assert(trail.tool, "only an analysed call asks");
  const staged = stagedDenial(trail.tool.name, obligations);
  if (staged) return Promise.resolve(denial(staged));
  return failingClosed(parts, () => approveAsked(parts, trail, policy, obligations, waiter));
}

/** Rules that ask, each once, sorted by id. */
function asksIn(obligations: readonly ImposedObligation[]): readonly ImposedObligation[] {
  const asks = new Map(obligations.filter(({ obligation }) => obligation === "ask").map((due) => [due.ruleId, due]));
  return [...asks.values()].sort((left, right) => (left.ruleId < right.ruleId ? -1 : 1));
}

/** A store that is down, or a prompt that cannot be made, denies. That the ledger takes nothing is said as everywhere. */
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
  trail: Trail,
  policy: PolicyEngine,
  obligations: readonly ImposedObligation[],
  waiter: Waiter,
): Promise<Ended | undefined> {
  const { tool, caller } = trail;
  assert(tool && caller, "only an authenticated call asks");
  const asks = asksIn(obligations);
  trail.waited = true; // files, stores and people take their time
  const bound = await bindAsk(parts, trail, caller, policy, asks, waiter.signal);
  const standing = await parts.approvals.look(bound);
  if (standing.kind === "granted") return use(parts, trail, bound, standing.approval);
  if (standing.kind !== "pending" && standing.kind !== "none") return denial(deniedBy(standing.kind, standing.approval));
  const asked = standing.kind === "pending" ? standing.approval : await ask(parts, trail, policy, obligations, bound, waiter);
  if (asked instanceof ToolFailure) return { kind: "failure", failure: asked };
  const end = await parts.approvals.wait(asked, waiter.signal, waiter.inBand);
  switch (end.kind) {
    case "settled":
      return settled(parts, trail, policy, end.approval, waiter);
    case "cancelled":
      return { kind: "failure", failure: CANCELLED };
    case "late":
      return denial(requiredDenial(tool.name, bound.firstRule, LATER, asked.ref));
    case "failed":
      return denial({ ...FAILED, approvalRef: asked.ref });
    case "forged":
      return denial({ ...FORGED, approvalRef: asked.ref });
  }
}

/** Asks people; they see the files as they are after the digests were taken. */
async function ask(
  parts: KernelParts,
  trail: Trail,
  policy: PolicyEngine,
  obligations: readonly ImposedObligation[],
  bound: BoundAsk,
  { signal }: Waiter,
): Promise<StoredApproval | ToolFailure> {
  const { tool, caller } = trail;
  assert(tool && caller, "only an authenticated call asks");
  const asks = asksIn(obligations);
  const { session } = caller;
  const asked = await parts.approvals.ask({
    call: bound.call,
    binding: bound.binding,
    caller: { ...session, sessionId: session.id, sessionEndsAtMs: session.expiresAtMs },
    requestId: trail.requestId,
    tool: tool.name,
    rules: asks.map(({ ruleId }) => ruleId),
    inBand: mayBeAnsweredInBand(
      tool,
      trail.accesses,
      obligations.map(({ obligation }) => obligation),
    ),
    describe: () => {
      const rules = asks.map(({ ruleId, reason }) => ({ ruleId, ...(reason !== undefined && { rationale: reason }) }));
      const files = namedFiles(createFileAccess(filesBefore(parts, trail, caller, policy, signal)), trail);
      return describeCall(trail, rules, files, runsPrograms(trail) ? parts.sandbox.backend() : undefined);
    },
  });
  if (asked.kind === "asked") return asked.approval;
  const message = "people are asked about too many calls already, so this one was refused";
  return new ToolFailure("RATE_LIMITED", message, "wait for answers, or for the time that is named", { afterMs: asked.retryAfterMs });
}

/** Files that the call names: what it does not name was never judged. */
function namedFiles(files: Pick<FileAccess, "read">, { tool, accesses }: Trail): Pick<FileAccess, "read"> {
  return {
    read(path, options) {
      if (accesses.some(({ resource }) => resource.kind === "file" && resource.path === path)) return files.read(path, options);
      throw new Refusal(unanalysed(tool?.name ?? "", "read"));
    },
  };
}

/** After a wait everything is looked at again: a session, a rule or a file may have changed while somebody decided. */
async function settled(
  parts: KernelParts,
  trail: Trail,
  policy: PolicyEngine,
  approval: StoredApproval,
  { signal }: Waiter,
): Promise<Ended | undefined> {
  const { state, ref } = approval;
  if (state === "expired") await parts.approvals.close(approval, "expired");
  if (state !== "approved") return state === "pending" ? denial(FAILED) : denial(deniedBy(state === "void" ? "changed" : state, approval));
  const still = await stillAllowed(parts, trail, policy);
  if (!still.ok) return denial(still.denial);
  const { decided, caller } = still.value;
  const asks = asksIn(decided.obligations);
  const bound = asks.length === 0 ? undefined : await bindAsk(parts, trail, caller, policy, asks, signal);
  if (bound?.binding === approval.binding) return use(parts, trail, bound, approval);
  await parts.approvals.close(approval, "void");
  return denial(invalid(ref));
}

/** Uses an approval for this call, or says what has become of it since. */
async function use(parts: KernelParts, trail: Trail, bound: BoundAsk, approval: StoredApproval): Promise<Ended | undefined> {
  const { ref } = approval;
  if (await parts.approvals.consume(approval, bound.binding, trail.requestId, () => noteUse(parts, trail, bound, approval)))
    return undefined;
  const now = await parts.approvals.find(ref);
  if (now?.state === "denied" || now?.state === "expired") return denial(deniedBy(now.state, now));
  if (now?.state === "void") return denial(deniedBy("changed", now));
  assert(trail.tool, "only an analysed call asks");
  return denial(requiredDenial(trail.tool.name, bound.firstRule, TAKEN, ref));
}

/** From here on the call has the approval, and gives it back if it never begins. */
function noteUse(parts: KernelParts, trail: Trail, bound: BoundAsk, { ref }: StoredApproval): void {
  const targets = new ApprovedTargets(bound.preImages, parts.argumentsKey);
  trail.approval = { ref, id: `${trail.tool?.name}:${bound.kind}`, rules: bound.rules, targets };
}

const LATER =
  "and nobody has given it yet; a person can give it by the reference, so send the very same call again later, or choose another way";
const TAKEN = "and the one that was given has been used by another call; send it again to ask anew";
const CANCELLED = new ToolFailure(
  "CANCELLED",
  "the call was cancelled while it waited for approval",
  "send it again if it is still wanted",
);

function denial(refused: Denial): Ended {
  return { kind: "denial", denial: refused };
}
