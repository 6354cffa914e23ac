// The operator's acts on armings: bounded, recorded with who and until when, and ended at once.
import { expect, test } from "vitest";
import { ArmingAdministration } from "../../../src/server/people/arming-administration.ts";
import { memoryKernel, START_MS } from "../../support/memory-kernel.ts";

const HOUR_MS = 3_600_000;

async function desk() {
  const { armings, sessions, ledger, session, time } = await memoryKernel();
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0 };
  return { ledger, session, time, arming: new ArmingAdministration({ armings, sessions, ledger, clock }) };
}

test("arming and disarming are recorded with who, until when and how far", async () => {
  const { arming, ledger, session } = await desk();
  const armed = await arming.arm(session.id, HOUR_MS, "ada");
  expect(armed).toEqual({ sessionId: session.id, armedAtMs: START_MS, untilMs: START_MS + HOUR_MS, armedBy: "ada" });
  await arming.arm(undefined, HOUR_MS, "bob");
  expect(await arming.disarm(session.id, "eve")).toEqual([
    { armedAtMs: START_MS, untilMs: START_MS + HOUR_MS, armedBy: "bob" },
  ]);
  expect(await arming.disarm(undefined, "eve")).toEqual([]);
  const until = "2026-01-01T01:00:00.000Z";
  expect(ledger.events.map(({ type, sessionId, actor, payload }) => ({ type, sessionId, actor, payload }))).toEqual([
    {
      type: "armed",
      sessionId: session.id,
      actor: "operator:ada",
      payload: { until, reach: "session", severity: "warning" },
    },
    { type: "armed", sessionId: "", actor: "operator:bob", payload: { until, reach: "all", severity: "warning" } },
    {
      type: "disarmed",
      sessionId: session.id,
      actor: "operator:eve",
      payload: { armings: 1, reach: "session", severity: "warning" },
    },
    {
      type: "disarmed",
      sessionId: "",
      actor: "operator:eve",
      payload: { armings: 1, reach: "all", severity: "warning" },
    },
  ]);
});

test("what has lapsed is not listed", async () => {
  const { arming, time } = await desk();
  await arming.arm(undefined, 1000, "ada");
  expect(await arming.list()).toHaveLength(1);
  time.nowMs += 1000;
  expect(await arming.list()).toEqual([]);
});

test("a day is the longest arming; less than none, and more, are refused", async () => {
  const { arming } = await desk();
  await arming.arm(undefined, 24 * HOUR_MS, "ada");
  for (const forMs of [0, -1, 24 * HOUR_MS + 1, Number.NaN]) {
    await expect(arming.arm(undefined, forMs, "ada")).rejects.toMatchObject({ code: "USAGE" });
  }
});

test("a session that is not there is neither armed nor disarmed", async () => {
  const { arming, ledger } = await desk();
  await expect(arming.arm("ses_none", HOUR_MS, "ada")).rejects.toThrow(/no session/);
  await expect(arming.disarm("ses_none", "ada")).rejects.toThrow(/no session/);
  expect(ledger.events).toEqual([]);
});

test("an arming that cannot be recorded does not take effect", async () => {
  const { arming, ledger } = await desk();
  ledger.breakFor(({ type }) => type === "armed");
  await expect(arming.arm(undefined, HOUR_MS, "ada")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(await arming.list()).toEqual([]);
});
