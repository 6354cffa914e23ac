/**
 * Applies rate limits and budgets to calls in the pipeline.
 *
 * They govern how fast calls come, what a call reserves before it runs, what more it may take while it runs, and what
 * it has spent when it is answered. Calls that nothing limits pass without a wait.
 *
 * INVARIANTS: No limited call runs without a reservation. A call that never ran spends nothing, and one that was denied
 * while it ran spends only what its tool may have paid others. A reservation is settled with the call's one answer.
 */

import { KIB } from "../../base/bytes.ts";
import { assert } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { LEASE_DEPTH_MAX } from "../../base/limits.ts";
import { accountsOf, mustPay } from "../../budget/accounts.ts";
import type { Need } from "../../budget/budget.ts";
import { allow, type Denial, deny, type Verdict } from "../../model/outcome/decision.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Lease, LeaseBudget } from "../../model/people/lease.ts";
import { type Amounts, BUDGET_MEMBERS, budgetUnit, NOTHING, toAmount } from "../../model/spending/budget.ts";
import type { ToolOutput } from "../../model/tool/tool.ts";
import type { Ended } from "../call/ended.ts";
import type { KernelParts } from "../call/parts.ts";
import { argumentBytes, RESERVED_DURATION_MS, Spending } from "../call/spending.ts";
import type { Granted, Known, Running } from "../call/stages.ts";
import type { Waiter } from "../call/submission.ts";
import type { Finished } from "./large-result.ts";

/** Bytes that a call reserves for its result; a larger one reserves the rest when its size is known. */
const RESERVED_RESULT_BYTES = 64 * KIB;

const LIMITS_CHANGED: Denial = {
  layer: "policy",
  reason: "tool_policy_invalid",
  ruleId: "LIMITS:changed",
  message: "the limits on what is spent changed while the call waited; send it again",
};

const RESERVATION_GONE: Denial = {
  layer: "budget",
  reason: "budget_exceeded",
  ruleId: "LIMITS:reservation",
  message: "what the call had reserved was given back while it waited; send it again",
};

/**
 * Whether the call comes too fast; `undefined` at once where no rate is limited, or where the kernel holds what the
 * call takes.
 */
export function pace(parts: KernelParts, { session, tool }: Granted): undefined | Promise<Ended | undefined> {
  const { limits } = parts.settings;
  if (limits.rates === undefined) return undefined;
  return parts.rates.admit(session, tool.name, limits)?.then((failure) => failure && { kind: "failure", failure });
}

/** Reserves what the call may spend, into its holdings; `undefined` at once where nothing is limited. */
export function reserveBudget(
  parts: KernelParts,
  granted: Granted,
  waiter: Waiter,
): undefined | Promise<Ended | undefined> {
  const { limits } = parts.settings;
  if (mustPay(granted.caller.lease, limits)) return reserve(parts, granted, waiter);
  granted.holdings.takePayment({ limits: limits.id, spending: undefined });
  return undefined;
}

async function reserve(parts: KernelParts, granted: Granted, { transfer }: Waiter): Promise<Ended | undefined> {
  const { caller, session, tool, call, args, requestId, holdings } = granted;
  const limits = parts.settings.limits.id;
  const accounts = accountsOf(session, await leasesOf(parts, caller.lease), parts.settings.limits);
  const bytesIn = argumentBytes(call.arguments) + uploadedBytes(transfer);
  const need = needOf(tool.spends?.(args) ?? {}, bytesIn);
  const spender = { sessionId: session.id, actor: `${session.userId}/${session.agentId}`, requestId };
  const reserved = await parts.budgets.reserve(accounts, need, { spender, durable: tool.capability.effect !== "read" });
  if (!reserved.ok) return { kind: "denial", denial: reserved.denial };
  holdings.takePayment({ limits, spending: new Spending(reserved.value, bytesIn, parts.clock) });
  return undefined;
}

/** Bytes that came beside the call. */
function uploadedBytes(transfer: Waiter["transfer"]): number {
  return transfer?.upload !== undefined && "staged" in transfer.upload ? transfer.upload.staged.sizeBytes : 0;
}

/** Tokens and cost only as far as the tool says: the kernel cannot count them. */
function needOf({ durationMs, bytes, tokens = 0, costMicros = 0 }: LeaseBudget, bytesIn: number): Need {
  const least = { calls: 1, durationMs: 1, bytes: bytesIn, tokens, costMicros };
  const reservedMs = Math.max(1, Math.min(durationMs ?? RESERVED_DURATION_MS, RESERVED_DURATION_MS));
  return { least, most: { ...least, durationMs: reservedMs, bytes: bytesIn + (bytes ?? RESERVED_RESULT_BYTES) } };
}

/** The lease and all that it derives from. */
async function leasesOf({ sessions }: Pick<KernelParts, "sessions">, lease: Lease): Promise<readonly Lease[]> {
  const leases = [lease];
  for (let { parentId } = lease; parentId !== undefined; parentId = leases.at(-1)?.parentId) {
    const parent = await sessions.findLease(parentId);
    assert(parent && leases.length <= LEASE_DEPTH_MAX, "an authenticated session's leases were all found");
    leases.push(parent);
  }
  return leases;
}

/** Whether what was reserved for the call still stands, under the limits by which it was. */
export async function stillPaid(parts: KernelParts, { holdings }: Granted): Promise<Verdict<undefined>> {
  if (holdings.payment === undefined) return allow(undefined);
  const { limits, spending } = holdings.payment;
  if (limits !== parts.settings.limits.id) return deny(LIMITS_CHANGED);
  return spending === undefined || (await spending.stands()) ? allow(undefined) : deny(RESERVATION_GONE);
}

/** The waiter for a running tool, which is told to stop when the time that its budget has left is over. */
export function timed(parts: KernelParts, { holdings }: Granted, waiter: Waiter): Waiter {
  const spending = holdings.payment?.spending;
  return spending === undefined ? waiter : { ...waiter, signal: spending.start(waiter.signal, parts.onInternalError) };
}

/** What a call is answered that was stopped because its time was over, and had changed nothing. */
export function outOfTime({ holdings, run }: Running): ToolFailure | undefined {
  const spending = holdings.payment?.spending;
  if (spending?.stoppedBy === undefined || run.changes.any) return undefined;
  return new ToolFailure(
    "TIMEOUT",
    `the call was stopped: ${spending.stoppedBy.message}`,
    spending.stoppedBy.fix ?? "ask the operator for more",
  );
}

/** Pays for a result before it is handed over: one that nothing is left for is withheld. */
export async function paid(
  { holdings, tool, run }: Running,
  finished: Finished,
  { output, transfer }: Pick<Waiter, "transfer"> & { readonly output: ToolOutput },
): Promise<Finished> {
  const bytes = finished instanceof ToolFailure ? 0 : finished.outputBytes + (transfer?.opened?.lengthBytes ?? 0);
  run.noteSpent(bytes + uploadedBytes(transfer), output.consumed ?? {});
  const spending = holdings.payment?.spending;
  if (spending === undefined) return finished;
  const lacking = await spending.charge(bytes, output.consumed ?? {});
  if (lacking === undefined || finished instanceof ToolFailure) return finished;
  const done = tool.capability.effect === "read" ? "" : "; what the call did stands";
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the result is withheld: ${lacking.message}${done}`,
    lacking.fix ?? "ask for less of it",
  );
}

/** Settles what the call spent. Never rejects. */
export function settleBudget(known: Known, isDenied: boolean): undefined | Promise<void> {
  return known.holdings?.payment?.spending?.settle(spentBy(known, isDenied));
}

/**
 * Nothing when it never ran; when it was denied while it ran, what its tool may have paid others: nobody gets that
 * back.
 */
function spentBy({ holdings, run }: Known, isDenied: boolean): Amounts {
  const spending = holdings?.payment?.spending;
  if (spending === undefined || run?.hasBegun !== true) return NOTHING;
  const { spent } = spending;
  return isDenied ? { ...NOTHING, tokens: spent.tokens, costMicros: spent.costMicros } : spent;
}

/**
 * What a call has spent, in the unit of its tool, whether anything limits it or not; `undefined` of one that never ran.
 * @param nowMs on the monotonic clock
 */
export function consumedOf({ holdings, tool, call, run }: Known, nowMs: number): number | undefined {
  if (tool === undefined || call === undefined || run?.begunMs === undefined) return undefined;
  const unit = budgetUnit(tool.capability);
  const spending = holdings?.payment?.spending;
  if (spending !== undefined) return spending.spent[unit];
  const { bytesOut, consumed } = run.spent;
  switch (unit) {
    case "calls":
      return 1;
    case "durationMs":
      return toAmount(nowMs - run.begunMs);
    case "bytes":
      return toAmount(argumentBytes(call.arguments) + bytesOut);
    default:
      return toAmount(consumed[unit] ?? 0);
  }
}

/** What a call has spent, for evidence: nothing is said where nothing is limited, or nothing was spent. */
export function spentFact(known: Known, isDenied = false): JsonObject {
  const spent = spentBy(known, isDenied);
  const members = BUDGET_MEMBERS.filter((member) => spent[member] > 0);
  return members.length === 0 ? {} : { consumed: Object.fromEntries(members.map((member) => [member, spent[member]])) };
}
