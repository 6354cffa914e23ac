// Both lattices: combining in any order and grouping gives the same, and never makes anything freer.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  combineMarks,
  covers,
  DATA_CLASSES,
  higherClass,
  isAtLeast,
  lowerTrust,
  type Mark,
  TRUST_LEVELS,
} from "../../../src/model/outcome/label.ts";

const marks = fc.record({ trustLevel: fc.constantFrom(...TRUST_LEVELS), dataClass: fc.constantFrom(...DATA_CLASSES) });

test("combining is associative, commutative and idempotent", () => {
  fc.assert(
    fc.property(marks, marks, marks, (a, b, c) => {
      expect(combineMarks(combineMarks(a, b), c)).toEqual(combineMarks(a, combineMarks(b, c)));
      expect(combineMarks(a, b)).toEqual(combineMarks(b, a));
      expect(combineMarks(a, a)).toEqual(a);
    }),
  );
});

test("combining is monotone: it never raises trust and never lowers a class", () => {
  fc.assert(
    fc.property(marks, marks, marks, (a, b, c) => {
      expect(covers(combineMarks(a, b), a)).toBe(true);
      expect(covers(combineMarks(a, b), b)).toBe(true);
      if (covers(a, b)) expect(covers(combineMarks(a, c), combineMarks(b, c))).toBe(true);
    }),
  );
});

test("the orders are those of the documents", () => {
  expect(TRUST_LEVELS.reduce(lowerTrust)).toBe("untrusted");
  expect(DATA_CLASSES.reduce(higherClass)).toBe("secret");
  expect(lowerTrust("user", "system")).toBe("user");
  expect(higherClass("internal", "sensitive")).toBe("sensitive");
  expect([isAtLeast("sensitive", "sensitive"), isAtLeast("internal", "sensitive")]).toEqual([true, false]);
});

test("one mark covers another when it already says as much", () => {
  const mark: Mark = { trustLevel: "verified", dataClass: "internal" };
  expect(covers(mark, { trustLevel: "user", dataClass: "public" })).toBe(true);
  expect(covers(mark, { trustLevel: "untrusted", dataClass: "public" })).toBe(false);
  expect(covers(mark, { trustLevel: "user", dataClass: "sensitive" })).toBe(false);
});
