/**
 * Who calls, and whether they may act now: the session's own state, then whether its principal is frozen.
 *
 * INVARIANT: a freeze or a revocation that comes while the stores are read is seen here, or ends the call as a running one. INVARIANT: what a
 * token stands for is remembered for the rest of the turn at most, in which the stores would say the same again; its time is looked at in each call.
 */
import { currentTurn } from "../../base/turn.ts";
import { deny } from "../../model/outcome/decision.ts";
import { type Authenticated, type Authentication, authenticate } from "../../session/session.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Trail } from "../call/trail.ts";

type AuthenticationParts = Pick<KernelParts, "sessions" | "killSwitch" | "clock">;

/** Who has acted in a turn, by their tokens; looking one up compares no more than a hash of it with others. */
interface Seen {
  readonly turn: number;
  readonly callers: Map<string, Authenticated>;
  /** Tokens that are being asked about: calls that arrive together ask once. */
  readonly asked: Map<string, Promise<Authentication>>;
}

const seen = new WeakMap<AuthenticationParts["killSwitch"], Seen>();

/** Who `token` stands for; from here on the call is recorded under that session, refusals included. */
export function authenticateCall(parts: AuthenticationParts, trail: Trail, token: string): Authentication | Promise<Authentication> {
  const isListening = parts.killSwitch.listen() === undefined;
  const known = seenThisTurn(parts).callers.get(token);
  if (!isListening || known === undefined || trail.receivedAtMs >= known.session.expiresAtMs) return authenticateAnew(parts, trail, token);
  trail.session = known.session;
  return { ok: true, value: known };
}

async function authenticateAnew(parts: AuthenticationParts, trail: Trail, token: string): Promise<Authentication> {
  const { killSwitch } = parts;
  const listening = killSwitch.listen();
  if (listening !== undefined) await listening;
  const { looks } = killSwitch;
  const seen = seenThisTurn(parts);
  const asked = seen.asked.get(token);
  const authenticated = await (asked ?? ask(parts, seen, trail, token));
  const session = authenticated.ok ? authenticated.value.session : authenticated.session;
  if (session !== undefined) trail.session = session;
  // The call was nobody's yet when the running calls were looked at.
  if (killSwitch.looks !== looks) return mayAct(parts, token, trail.receivedAtMs);
  // What was asked for another call may not hold at the time of this one.
  const holds = asked === undefined || (authenticated.ok && trail.receivedAtMs < authenticated.value.session.expiresAtMs);
  return holds ? authenticated : mayAct(parts, token, trail.receivedAtMs);
}

function ask(parts: AuthenticationParts, { turn, callers, asked }: Seen, trail: Trail, token: string): Promise<Authentication> {
  const asking = mayAct(parts, token, trail.receivedAtMs).then((authenticated) => {
    if (authenticated.ok && currentTurn() === turn) callers.set(token, authenticated.value);
    return authenticated;
  });
  asked.set(token, asking);
  const done = () => asked.delete(token);
  asking.then(done, done);
  return asking;
}

function seenThisTurn({ killSwitch }: AuthenticationParts): Seen {
  const turn = currentTurn();
  const last = seen.get(killSwitch);
  if (last?.turn === turn) return last;
  const fresh: Seen = { turn, callers: new Map(), asked: new Map() };
  seen.set(killSwitch, fresh);
  return fresh;
}

/** Whether `token` stands for somebody who may act at `nowMs`. */
export async function mayAct(parts: AuthenticationParts, token: string, nowMs: number): Promise<Authentication> {
  const authenticated = await authenticate(parts.sessions, token, nowMs);
  if (!authenticated.ok) return authenticated;
  const { session } = authenticated.value;
  const frozen = await parts.killSwitch.frozen(session);
  return frozen === undefined ? authenticated : { ...deny(frozen), session };
}
