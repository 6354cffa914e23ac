/** The alarm's count: exact within a minute, and forgetful after it. */
import { expect, test } from "vitest";
import { VIOLATION_WINDOW_MS } from "../base/limits.ts";
import { ViolationRate } from "./violation-rate.ts";

test("those whose violations are older than a minute are forgotten, the others are not", () => {
  const rate = new ViolationRate(1);
  for (let index = 0; index < 1000; index += 1) rate.count(`agent-${index}`, 1_000_000);
  rate.count("late", 1_000_000 + VIOLATION_WINDOW_MS - 1);
  expect(rate.principals).toBe(1001);
  expect(rate.count("late", 1_000_000 + VIOLATION_WINDOW_MS)).toBe(true);
  expect(rate.principals).toBe(1);
});

test("the first violation beyond the limit raises the alarm, the next ones do not, and each principal counts alone", () => {
  const rate = new ViolationRate(2);
  const raised = ["a", "a", "b", "a", "a"].map((principal, index) => rate.count(principal, index));
  expect(raised).toEqual([false, false, false, true, false]);
});
