/**
 * Raises the alarm when one principal causes too many violations in one workspace within a minute.
 *
 * The operator sets the limit, and violations are counted over all kernels of the state directory (Flow §7.2). The
 * alarm freezes the principal in that workspace until a person has reviewed it, unless the operator chose that alarms
 * are only recorded. A violation is a refusal by the workspace guard, by a rule about commands, or by flow control. A
 * marker of a hidden secret in what is written is a mistake and no violation.
 *
 * INVARIANT: violations that cannot be counted count as too many.
 */

import type { Denial } from "../../model/outcome/decision.ts";
import type { EventType } from "../../model/outcome/event.ts";
import type { Session } from "../../model/people/session.ts";
import type { KernelParts } from "../call/parts.ts";

/** Milliseconds during which violations count towards the alarm (Flow §7.2: per minute). */
const VIOLATION_WINDOW_MS = 60_000;

/** How a violation is recorded, by who refused; `undefined` for a refusal that is none. */
export function violationType({
  layer,
  reason,
  command,
}: Pick<Denial, "layer" | "reason" | "command">): EventType | undefined {
  if (layer === "workspace") return "workspace_violation";
  if (layer === "flow" && reason.startsWith("flow_")) return "flow_violation";
  return command === undefined ? undefined : "command_violation";
}

/** An alarm that was raised just now, and whether it froze the principal. */
export interface Alarm {
  readonly violationsPerMinute: number;
  readonly frozen: boolean;
}

/** Counts a violation of the session's principal; the alarm that it raises, if it does. */
export async function countViolation(
  parts: Pick<KernelParts, "violations" | "settings" | "killSwitch" | "clock" | "onInternalError">,
  session: Session,
): Promise<Alarm | undefined> {
  const { violationsPerMinute, freezeOnAlert } = parts.settings;
  const count = await counted(parts, session, violationsPerMinute);
  if (count <= violationsPerMinute) return undefined;
  const reason = `more than ${violationsPerMinute} violations within a minute`;
  const isRaised = freezeOnAlert ? await parts.killSwitch.freeze(session, reason) : count === violationsPerMinute + 1;
  return isRaised ? { violationsPerMinute, frozen: freezeOnAlert } : undefined;
}

async function counted(
  { violations, clock, onInternalError }: Pick<KernelParts, "violations" | "clock" | "onInternalError">,
  session: Session,
  limit: number,
): Promise<number> {
  try {
    // One beyond the first too many, so that the first can be told from the next ones.
    return await violations.count({
      owner: session,
      atMs: clock.nowMs(),
      windowMs: VIOLATION_WINDOW_MS,
      countMax: limit + 2,
    });
  } catch (error) {
    onInternalError(error);
    return limit + 1;
  }
}
