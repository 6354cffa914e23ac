/**
 * The mark follows what is about to be answered: it rises, durably, before the caller sees the result.
 *
 * INVARIANT: a result whose mark could not be kept is not answered.
 */
import { INITIAL_MARK } from "../flow/flow.ts";
import { covers, type Mark } from "../model/label.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";
import type { Trail } from "./trail.ts";

/** Raises the principal's mark by what the caller will have seen; nothing to wait for when it says as much already. */
export function followResult(parts: KernelParts, evidence: Evidence, trail: Trail, seen: Mark): Promise<void> | undefined {
  const { caller } = trail;
  if (caller === undefined || covers(caller.mark, seen)) return undefined;
  return raise(parts, evidence, trail, seen);
}

async function raise(parts: KernelParts, evidence: Evidence, trail: Trail, seen: Mark): Promise<void> {
  const { session, mark: before } = trail.caller as NonNullable<Trail["caller"]>;
  const after = await parts.marks.raiseMark(session, INITIAL_MARK, seen, parts.clock.nowMs());
  await evidence.markRaised(trail, before, after);
}
