/**
 * The mark follows what is about to be answered: it rises, durably, before the caller sees the result.
 *
 * INVARIANT: a result whose mark could not be kept is not answered. INVARIANT: what counts is the mark as it stands now, not
 * as it stood when the call began, because a declassification may have come between.
 */
import { INITIAL_MARK } from "../../flow/flow.ts";
import { labelResult, NOTHING_FOUND } from "../../flow/labels.ts";
import { covers, type Mark } from "../../model/outcome/label.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";
import { markOf } from "../judge/caller.ts";
import type { Evidence } from "./evidence.ts";

/** The same before words of the tool leave that no result stands for: by what the tool declares. Resolves with that mark. */
export async function followDeclared(parts: KernelParts, evidence: Evidence, trail: Trail): Promise<Mark | undefined> {
  const { tool, caller } = trail;
  if (tool === undefined || caller === undefined) return undefined;
  const { seen } = labelResult(tool, caller.mark, [], NOTHING_FOUND, parts.clock.nowMs());
  await followResult(parts, evidence, trail, seen);
  return seen;
}

/** Raises the principal's mark by what the caller will have seen, unless it says as much already. */
export async function followResult(parts: KernelParts, evidence: Evidence, trail: Trail, seen: Mark): Promise<void> {
  const session = trail.caller?.session;
  if (session === undefined || covers(await markOf(parts, session), seen)) return;
  const { before, after } = await parts.marks.raiseMark(session, INITIAL_MARK, seen, parts.clock.nowMs());
  if (!covers(before, seen)) await evidence.markRaised(trail, before, after);
}
