// Who a token stands for is asked once in a turn, and anew after everything that could have changed it.
import { expect, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import { endTurn } from "../../../src/base/turn.ts";
import { authenticateCall } from "../../../src/kernel/judge/authenticate.ts";
import { type Lease, UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import type { Session } from "../../../src/model/people/session.ts";

const SAMPLE_SESSION: Session = {
  id: "ses_one",
  tokenHash: "",
  userId: "ann",
  agentId: "agent",
  role: "dev",
  serviceRoot: "/srv/service",
  projectRoot: "/srv",
  isolationLevel: "STRICT",
  leaseId: "lea_one",
  mode: "default",
  preset: "dev",
  createdAtMs: 1000,
  expiresAtMs: 5000,
};
const SAMPLE_LEASE: Lease = {
  id: "lea_one",
  scope: UNRESTRICTED_SCOPE,
  budget: {},
  createdAtMs: 1000,
  expiresAtMs: 5000,
};
const TOKEN = `${SAMPLE_SESSION.id}.secret`;

type Parts = Parameters<typeof authenticateCall>[0];

/** Stores that count how often they are asked, and a kill switch that says what the test wants. */
function kernel() {
  const state = {
    asked: 0,
    nowMs: 2000,
    session: { ...SAMPLE_SESSION, tokenHash: blake3Hex(TOKEN) } as Session,
    listening: true,
  };
  const killSwitch = {
    looks: 0,
    listen: () => (state.listening ? undefined : Promise.resolve()),
    frozen: async () => undefined,
  };
  const sessions = {
    findSession: async () => {
      state.asked += 1;
      return state.session;
    },
    findLease: async () => SAMPLE_LEASE,
  };
  const clock = { nowMs: () => state.nowMs, monotonicMs: () => 0 };
  const parts = { sessions, killSwitch, clock } as unknown as Parts;
  const call = async (token = TOKEN) => {
    let session: Session | undefined;
    const running = {
      belongsTo(found: Session) {
        session = found;
      },
    };
    const authenticated = await authenticateCall(parts, { token, atMs: clock.nowMs(), running });
    return { ok: authenticated.ok, session: session?.id };
  };
  return { state, killSwitch, call };
}

const KNOWN = { ok: true, session: SAMPLE_SESSION.id };

test("calls of one turn ask once, and each of them is recorded under the session", async () => {
  const { state, call } = kernel();
  endTurn();
  expect([await call(), await call(), await call()]).toEqual([KNOWN, KNOWN, KNOWN]);
  expect(state.asked).toBe(1);
});

test("calls that arrive together ask once, each for its own time, and again when the running calls were looked at meanwhile", async () => {
  const { state, killSwitch, call } = kernel();
  endTurn();
  expect(await Promise.all([call(), call(), call()])).toEqual([KNOWN, KNOWN, KNOWN]);
  expect(state.asked).toBe(1);
  endTurn();
  const early = call();
  state.nowMs = SAMPLE_SESSION.expiresAtMs;
  expect(await Promise.all([early, call()])).toEqual([KNOWN, { ok: false, session: SAMPLE_SESSION.id }]);
  state.nowMs = 2000;
  endTurn();
  const together = [call(), call()];
  state.session = { ...state.session, revokedAtMs: 1999 };
  killSwitch.looks += 1;
  const revoked = { ok: false, session: SAMPLE_SESSION.id };
  expect(await Promise.all(together)).toEqual([revoked, revoked]);
});

test("calls that arrive together with a token of nobody ask for themselves", async () => {
  const { state, call } = kernel();
  endTurn();
  const refused = { ok: false, session: undefined };
  expect(await Promise.all([call(`${TOKEN}x`), call(`${TOKEN}x`), call()])).toEqual([refused, refused, KNOWN]);
  expect(state.asked).toBe(3);
});

test("after a commit of this process, and in the next turn of the loop, the stores are asked again", async () => {
  const { state, call } = kernel();
  await call();
  state.session = { ...state.session, revokedAtMs: 1999 };
  endTurn();
  expect(await call()).toEqual({ ok: false, session: SAMPLE_SESSION.id });
  state.session = { ...SAMPLE_SESSION, tokenHash: blake3Hex(TOKEN) };
  expect(await call()).toEqual(KNOWN);
  const before = state.asked;
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await call();
  expect(state.asked).toBe(before + 1);
});

test("time that passes within the turn ends a session, too", async () => {
  const { state, call } = kernel();
  endTurn();
  expect(await call()).toEqual(KNOWN);
  state.nowMs = SAMPLE_SESSION.expiresAtMs;
  expect(await call()).toEqual({ ok: false, session: SAMPLE_SESSION.id });
});

test("what was refused, what another token says, and a kernel that hears no bell rely on nothing that is remembered", async () => {
  const { state, call } = kernel();
  endTurn();
  expect((await call(`${TOKEN}x`)).ok).toBe(false);
  expect((await call(`${TOKEN}x`)).ok).toBe(false);
  expect(await call()).toEqual(KNOWN);
  expect(state.asked).toBe(3);
  state.listening = false;
  await call();
  expect(state.asked).toBe(4);
});
