/** What the ledger says of the kernel's own requests for indexes. */
import { expect, test } from "vitest";
import type { LedgerEvent } from "../../../src/model/outcome/event.ts";
import { ReachRecord } from "../../../src/server/knowledge/reach-record.ts";

const ATTEMPT = {
  host: "127.0.0.1",
  port: 11_434,
  via: "request",
  outcome: "allowed",
  bytesOut: 10,
  bytesIn: 20,
  durationMs: 1.5,
} as const;

function recorded() {
  const events: LedgerEvent[] = [];
  const clock = { nowMs: 1000 };
  const ledger = {
    record(event: LedgerEvent) {
      events.push(event);
      return Promise.resolve(events.length);
    },
  };
  const onInternalError = (error: unknown) => {
    throw error;
  };
  const record = new ReachRecord({ ledger, nowMs: () => clock.nowMs, onInternalError });
  return { events, clock, record };
}

test("the first request is recorded at once, the next ones together after a minute, the last ones at the end", async () => {
  const { events, clock, record } = recorded();
  record.take(ATTEMPT);
  expect(events).toMatchObject([
    { type: "network_reached", actor: "kernel", payload: { purpose: "knowledge", requests: 1, bytesOut: 10 } },
  ]);
  record.take(ATTEMPT);
  expect(events).toHaveLength(1);
  clock.nowMs += 60_000;
  record.take(ATTEMPT);
  expect(events[1]).toMatchObject({ payload: { requests: 2, bytesOut: 20, bytesIn: 40, executionTime: 3 } });
  record.take(ATTEMPT);
  await record.close();
  expect(events.map(({ payload }) => payload["requests"])).toEqual([1, 2, 1]);
  await record.close();
  expect(events).toHaveLength(3);
});

test("other servers and outcomes are told apart, and what was refused is a warning", () => {
  const { events, record } = recorded();
  record.take(ATTEMPT);
  record.take({ ...ATTEMPT, port: 8000 });
  record.take({ ...ATTEMPT, outcome: "failed", reason: "no_connection" });
  record.take({ ...ATTEMPT, outcome: "refused", reason: "denied" });
  expect(events.map(({ type, payload }) => [type, payload["port"], payload["outcome"], payload["severity"]])).toEqual([
    ["network_reached", 11_434, "allowed", undefined],
    ["network_reached", 8000, "allowed", undefined],
    ["network_reached", 11_434, "failed", undefined],
    ["network_blocked", 11_434, "refused", "warning"],
  ]);
});
