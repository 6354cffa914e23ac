// Counts of tests as the usual runners print them; of what is not recognised nothing is said.
import { expect, test } from "vitest";
import { testSummary } from "../../../src/tools/toolchain/summary.ts";
import { piecesOf } from "../../support/turns.ts";

test.each([
  [
    "node, for people",
    "✔ a (1ms)\nℹ tests 3\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n",
    { passed: 1, failed: 1, skipped: 1 },
  ],
  ["node, TAP", "# tests 2\n# pass 2\n# fail 0\n# skipped 0\n", { passed: 2, failed: 0, skipped: 0 }],
  [
    "jest",
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total\n",
    { passed: 3, failed: 1, skipped: 2 },
  ],
  [
    "vitest",
    " Test Files  1 passed (1)\n      \u001b[2mTests\u001b[22m  2 failed | 5 passed (7)\n",
    { passed: 5, failed: 2 },
  ],
  ["mocha", "  12 passing (30ms)\n  1 pending\n  2 failing\n", { passed: 12, failed: 2, skipped: 1 }],
  [
    "pytest",
    "...\n=========== 1 failed, 2 passed, 3 skipped, 1 error in 0.12s ===========\n",
    { passed: 2, failed: 1, skipped: 3 },
  ],
  [
    "cargo, summed up",
    "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 1 passed; 3 failed; 0 ignored\n",
    { passed: 3, failed: 3, skipped: 1 },
  ],
  ["go, which does not count", "ok  \tx\t0.1s\nFAIL\ty\t0.2s\n", undefined],
  ["nothing", "", undefined],
  ["numbers by chance", "5 passed the door\n", undefined],
] as const)("%s", (_what, text, expected) => {
  expect(testSummary(text)).toEqual(expected);
});

test.each(["\n", " \n", "= 1 passed ", "1 passed 2 failed in 3.0"])(
  "an output of nothing but %j is looked at in passing",
  (piece) => {
    const text = `= ${piece.repeat((1024 * 1024) / piece.length)}`;
    expect(piecesOf(() => testSummary(text))).toBeLessThan(100);
  },
);
