/** Records what upstream servers reached and tried to reach, beside what calls did. */
import { systemClock } from "../../../base/clock.ts";
import { BY_KERNEL } from "../../../ledger/actors.ts";
import type { EventSink } from "../../../model/outcome/event.ts";
import type { EgressAttempt } from "../../../sandbox/net/gate/attempt.ts";

/** Records one attempt of the server of that name. */
export async function recordUpstreamAttempt(
  ledger: EventSink,
  server: string,
  { outcome, durationMs, secrets, ...rest }: EgressAttempt,
): Promise<void> {
  const isRefused = outcome === "refused";
  const payload = {
    tool: `mcp.${server}`,
    ...rest,
    outcome,
    ...(secrets && { secrets: [...secrets] }),
    executionTime: Math.round(durationMs * 1000) / 1000,
    ...(isRefused && { severity: "warning" }),
  };
  const event = { ...BY_KERNEL, timeMs: systemClock.nowMs(), payload };
  const [type, durability] = isRefused
    ? (["network_blocked", "durable"] as const)
    : (["network_reached", "buffered"] as const);
  await ledger.record({ type, ...event }, durability);
}
