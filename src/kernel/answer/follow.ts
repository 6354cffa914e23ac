/**
 * The mark follows what is about to be answered: it rises, durably, before the caller sees the result.
 *
 * INVARIANT: a result whose mark could not be kept is not answered. INVARIANT: what counts is the mark as it stands
 * now, not as it stood when the call began, because a declassification may have come between.
 */
import { INITIAL_MARK } from "../../flow/flow.ts";
import { labelResult, NOTHING_FOUND } from "../../flow/labels.ts";
import { covers, type Mark } from "../../model/outcome/label.ts";
import type { Known } from "../call/stages.ts";
import { markOf } from "../judge/caller.ts";
import type { Kernel } from "./kernel.ts";

/**
 * The same before words of the tool leave that no result stands for: by what the tool declares. Resolves with that
 * mark.
 */
export async function followDeclared(kernel: Kernel, known: Known): Promise<Mark | undefined> {
  const { tool, caller } = known;
  if (tool === undefined || caller === undefined) return undefined;
  const { seen } = labelResult({
    tool,
    mark: caller.mark,
    sources: [],
    found: NOTHING_FOUND,
    nowMs: kernel.parts.clock.nowMs(),
  });
  await followResult(kernel, known, seen);
  return seen;
}

/** Raises the principal's mark by what the caller will have seen, unless it says as much already. */
export async function followResult({ parts, evidence }: Kernel, known: Known, seen: Mark): Promise<void> {
  const session = known.caller?.session;
  if (session === undefined || covers(await markOf(parts, session), seen)) return;
  const { before, after } = await parts.marks.raiseMark(session, { initial: INITIAL_MARK, seen }, parts.clock.nowMs());
  if (!covers(before, seen)) await evidence.markRaised(known, before, after);
}
