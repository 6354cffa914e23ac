/**
 * Who calls, and whether they may act now: the session's own state, then whether its principal is frozen.
 *
 * INVARIANT: a freeze or a revocation that comes while the stores are read is seen here, or ends the call as a running one.
 */
import { deny } from "../model/decision.ts";
import { type Authentication, authenticate } from "../session/session.ts";
import type { KernelParts } from "./parts.ts";
import type { Trail } from "./trail.ts";

type AuthenticationParts = Pick<KernelParts, "sessions" | "killSwitch" | "clock">;

/** Who `token` stands for; from here on the call is recorded under that session, refusals included. */
export async function authenticateCall(parts: AuthenticationParts, trail: Trail, token: string): Promise<Authentication> {
  const { killSwitch } = parts;
  const listening = killSwitch.listen();
  if (listening !== undefined) await listening;
  const { looks } = killSwitch;
  const authenticated = await mayAct(parts, token, trail.receivedAtMs);
  const session = authenticated.ok ? authenticated.value.session : authenticated.session;
  if (session !== undefined) trail.session = session;
  // The call was nobody's yet when the running calls were looked at.
  return killSwitch.looks === looks ? authenticated : mayAct(parts, token, trail.receivedAtMs);
}

/** Whether `token` stands for somebody who may act at `nowMs`. */
export async function mayAct(parts: AuthenticationParts, token: string, nowMs: number): Promise<Authentication> {
  const authenticated = await authenticate(parts.sessions, token, nowMs);
  if (!authenticated.ok) return authenticated;
  const { session } = authenticated.value;
  const frozen = await parts.killSwitch.frozen(session);
  return frozen === undefined ? authenticated : { ...deny(frozen), session };
}
