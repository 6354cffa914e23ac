/**
 * Authenticates the caller and decides whether they may act now.
 *
 * It looks at the session's own state, then at whether its principal is frozen.
 *
 * INVARIANT: a freeze or a revocation that comes while the stores are read is seen here, or ends the call as a running
 * one. INVARIANT: what a token stands for is cached for the rest of the turn at most, in which the stores would say the
 * same again. Its expiry is checked in each call.
 */
import { currentTurn } from "../../base/turn.ts";
import { type Denial, deny } from "../../model/outcome/decision.ts";
import { type Authenticated, type Authentication, authenticate } from "../../session/session.ts";
import type { RunningCall } from "../call/kill-switch.ts";
import type { KernelParts } from "../call/parts.ts";

type AuthenticationParts = Pick<KernelParts, "sessions" | "killSwitch" | "clock" | "branches">;

const BRANCH_GONE: Denial = {
  layer: "authenticate",
  reason: "session_invalid",
  ruleId: "SESSION:branch",
  message: "the branch of this session was merged or dropped; ask the operator for a new session",
};

/** Who has acted in a turn, by their tokens; looking one up compares no more than a hash of it with others. */
interface Seen {
  readonly turn: number;
  readonly callers: Map<string, Authenticated>;
  /** Tokens that are being asked about: calls that arrive together ask once. */
  readonly asked: Map<string, Promise<Authentication>>;
}

const seen = new WeakMap<AuthenticationParts["killSwitch"], Seen>();

/** A token as a request brings it. */
export interface ShownToken {
  readonly token: string;
  /** When the request arrived, in milliseconds. */
  readonly atMs: number;
  /** The call that brings it; none when something other than a call is asked for. */
  readonly running?: Pick<RunningCall, "belongsTo">;
}

/** Who the token stands for; from here on the kill switch ends the call with that session. */
export function authenticateCall(
  parts: AuthenticationParts,
  shown: ShownToken,
): Authentication | Promise<Authentication> {
  const isListening = parts.killSwitch.listen() === undefined;
  const known = seenThisTurn(parts).callers.get(shown.token);
  if (!isListening || known === undefined || shown.atMs >= known.session.expiresAtMs)
    return authenticateAnew(parts, shown);
  shown.running?.belongsTo(known.session);
  return { ok: true, value: known };
}

async function authenticateAnew(parts: AuthenticationParts, shown: ShownToken): Promise<Authentication> {
  const { token, atMs, running } = shown;
  const { killSwitch } = parts;
  const listening = killSwitch.listen();
  if (listening !== undefined) await listening;
  const { looks } = killSwitch;
  const seen = seenThisTurn(parts);
  const asked = seen.asked.get(token);
  const authenticated = await (asked ?? ask(parts, seen, shown));
  const session = authenticated.ok ? authenticated.value.session : authenticated.session;
  if (session !== undefined) running?.belongsTo(session);
  // The call was nobody's yet when the running calls were looked at.
  if (killSwitch.looks !== looks) return mayAct(parts, token, atMs);
  // What was asked for another call may not hold at the time of this one.
  const holds = asked === undefined || (authenticated.ok && atMs < authenticated.value.session.expiresAtMs);
  return holds ? authenticated : mayAct(parts, token, atMs);
}

function ask(
  parts: AuthenticationParts,
  { turn, callers, asked }: Seen,
  { token, atMs }: ShownToken,
): Promise<Authentication> {
  const asking = mayAct(parts, token, atMs).then((authenticated) => {
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
  const { branchId } = session;
  if (branchId !== undefined && (await parts.branches?.find(branchId)) === undefined)
    return { ...deny(BRANCH_GONE), session };
  const frozen = await parts.killSwitch.frozen(session);
  return frozen === undefined ? authenticated : { ...deny(frozen), session };
}
