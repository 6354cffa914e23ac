// Orphans: the open intents of dead instances, and only theirs, are closed, each once.
import { expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { closeOrphans, IntentNotOpenError, type OpenIntent } from "../../src/ledger/orphans.ts";
import type { Durability, EventSink, LedgerEvent } from "../../src/model/outcome/event.ts";

const intent = (sequence: number, instanceId: string): OpenIntent => ({
  sequence,
  instanceId,
  sessionId: "ses_a",
  actor: "agent",
  requestId: `r${sequence}`,
});

function sinkThat(answer: (event: LedgerEvent) => Promise<number>): {
  readonly sink: EventSink;
  readonly recorded: (readonly [LedgerEvent, Durability])[];
} {
  const recorded: (readonly [LedgerEvent, Durability])[] = [];
  const record: EventSink["record"] = (event, durability) => {
    recorded.push([event, durability]);
    return answer(event);
  };
  return { sink: { record }, recorded };
}

const source = (...intents: readonly OpenIntent[]) => ({ openIntents: async () => intents });

test("intents of dead instances are closed as unknown, those of living ones are left, and each instance is asked for once", async () => {
  const asked: string[] = [];
  const isAlive = async (id: string): Promise<boolean> => {
    asked.push(id);
    return id === "ins_living";
  };
  const { sink, recorded } = sinkThat(async () => 9);
  const closed = await closeOrphans(
    { ...source(intent(1, "ins_dead"), intent(2, "ins_living"), intent(3, "ins_dead")), ...sink },
    { isAlive },
    5000,
  );
  expect(closed.map(({ sequence }) => sequence)).toEqual([1, 3]);
  expect(asked).toEqual(["ins_dead", "ins_living"]);
  expect(recorded[0]).toEqual([
    {
      type: "tool_outcome_unknown",
      sessionId: "ses_a",
      actor: "agent",
      requestId: "r1",
      timeMs: 5000,
      payload: { instance_id: "ins_dead", intent_sequence: 1, reason: "instance_gone" },
      closes: 1,
    },
    "durable",
  ]);
});

test("an intent that somebody else closed meanwhile is not counted", async () => {
  const { sink } = sinkThat((event) =>
    event.closes === 1 ? Promise.reject(new IntentNotOpenError()) : Promise.resolve(9),
  );
  const closed = await closeOrphans(
    { ...source(intent(1, "ins_dead"), intent(2, "ins_dead")), ...sink },
    { isAlive: async () => false },
    0,
  );
  expect(closed.map(({ sequence }) => sequence)).toEqual([2]);
});

test("a ledger that cannot be written, or an instance that cannot be judged, is an error", async () => {
  const broken = new KernelError("LEDGER_UNAVAILABLE", "no");
  const { sink, recorded } = sinkThat(() => Promise.reject(broken));
  const ledger = { ...source(intent(1, "ins_dead")), ...sink };
  await expect(closeOrphans(ledger, { isAlive: async () => false }, 0)).rejects.toBe(broken);
  await expect(closeOrphans(ledger, { isAlive: () => Promise.reject(broken) }, 0)).rejects.toBe(broken);
  expect(recorded).toHaveLength(1);
});
