// What the next kernel says of people's acts on branches that a killed one had begun.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { IntentNotOpenError, type OpenIntent } from "../../../src/ledger/orphans.ts";
import type { LedgerEvent } from "../../../src/model/outcome/event.ts";
import type { Branch } from "../../../src/model/place/branch.ts";
import { closeBranchActs } from "../../../src/server/branches/interrupted-acts.ts";

const intent = (sequence: number, branchAct?: JsonObject, instanceId = "ins_dead"): OpenIntent => ({
  sequence,
  instanceId,
  sessionId: "",
  actor: "operator",
  requestId: "",
  ...(branchAct !== undefined && { branchAct }),
});

test("each act of a dead kernel is closed once, with what became of it where that is known", async () => {
  const recorded: LedgerEvent[] = [];
  const ledger = {
    openIntents: async () => [
      intent(1, { act: "merge", branchId: "bra_gone" }),
      intent(2, { act: "drop", branchId: "bra_there" }),
      intent(3, { act: "merge", branchId: "bra_there" }),
      intent(4),
      intent(5, { act: "merge", branchId: "bra_there" }, "ins_alive"),
      intent(6, { act: "drop", branchId: "bra_gone" }),
    ],
    record: async (event: LedgerEvent) => {
      if (event.closes === 6) throw new IntentNotOpenError();
      recorded.push(event);
      return recorded.length;
    },
  };
  await closeBranchActs(ledger as Parameters<typeof closeBranchActs>[0], {
    instances: { isAlive: async (id) => id === "ins_alive" },
    branches: { find: async (id) => (id === "bra_there" ? ({ id } as Branch) : undefined) },
    nowMs: 1,
  });
  expect(recorded.map(({ type, closes, payload }) => [type, closes, payload["isDone"], payload["reason"]])).toEqual([
    ["branch_act_ended", 1, true, "instance_gone"],
    ["branch_act_ended", 2, false, "instance_gone"],
    ["branch_act_ended", 3, undefined, "instance_gone"],
  ]);
});
