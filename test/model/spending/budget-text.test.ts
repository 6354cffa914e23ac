// Budgets as people write them.
import fc from "fast-check";
import { expect, test } from "vitest";
import { addAmounts, amounts, BUDGET_MEMBERS, NOTHING, toAmount } from "../../../src/model/spending/budget.ts";
import { parseAmount, parseBudget, printAmount, printBudget } from "../../../src/model/spending/budget-text.ts";

test("a budget is read as it is written", () => {
  expect(parseBudget("calls=100,duration=10m,bytes=1GB,tokens=50000,cost=2.50")).toEqual({
    ok: true,
    budget: { calls: 100, durationMs: 600_000, bytes: 2 ** 30, tokens: 50_000, costMicros: 2_500_000 },
  });
  expect(parseBudget("bytes=512, calls=0")).toEqual({ ok: true, budget: { bytes: 512, calls: 0 } });
});

test.each([
  ["", "names no budget"],
  ["call=1", "`call=1` names no budget; write calls="],
  ["calls", "names no budget"],
  ["calls=", "write a whole number"],
  ["calls=1,calls=2", "`calls` is given twice"],
  ["duration=10", "write a duration"],
  ["bytes=1XB", "write a size"],
  ["cost=-1", "write an amount"],
  ["bytes=9999999999TB", "write a size"],
])("`%s` is refused: %s", (text, problem) => {
  expect(parseBudget(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("every amount that is printed is read back as it was", () => {
  const some = fc.oneof(
    fc.nat(),
    fc.nat().map((count) => count * 60_000),
    fc.maxSafeNat(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...BUDGET_MEMBERS), some, (member, amount) => {
      expect(parseAmount(member, printAmount(member, amount))).toBe(amount);
    }),
  );
  expect(printBudget({ calls: 3, durationMs: 5_400_000, bytes: 1536, costMicros: 2_500_000 })).toBe(
    "calls=3,duration=90m,bytes=1536B,cost=2.50",
  );
  expect(printBudget({})).toBe("-");
});

test("sums stay at the end of what can be counted", () => {
  const most = amounts(() => Number.MAX_SAFE_INTEGER);
  expect(addAmounts(most, { ...NOTHING, calls: 1 })).toEqual(most);
  expect([toAmount(Number.NaN), toAmount(Number.POSITIVE_INFINITY), toAmount(-1), toAmount(1.2)]).toEqual([
    Number.MAX_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
    0,
    2,
  ]);
});
