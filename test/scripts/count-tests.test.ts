// The last line of a continuous-integration run: counted from the report, and never green for want of tests.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ok = { status: "passed", assertionResults: [{ status: "passed" }] };
const broken = { status: "failed", assertionResults: [] };
const red = { status: "failed", assertionResults: [{ status: "failed" }] };

test.each([
  ["all passed", { numPassedTests: 3, numFailedTests: 0, success: true, testResults: [ok] }, "3 passed, 0 failed", 0],
  [
    "one failed",
    { numPassedTests: 2, numFailedTests: 1, success: false, testResults: [ok, red] },
    "2 passed, 1 failed",
    1,
  ],
  [
    "a file that does not load",
    { numPassedTests: 2, numFailedTests: 0, success: false, testResults: [ok, broken] },
    "2 passed, 1 failed",
    1,
  ],
  [
    "an error outside of any test",
    { numPassedTests: 2, numFailedTests: 0, success: false, testResults: [ok] },
    "2 passed, 1 failed",
    1,
  ],
  ["no tests", { numPassedTests: 0, numFailedTests: 0, success: true, testResults: [] }, "0 passed, 0 failed", 1],
  ["no report", undefined, "0 passed, 1 failed", 1],
  [
    "a second report that is missing",
    [{ numPassedTests: 3, numFailedTests: 0, success: true, testResults: [ok] }, undefined],
    "3 passed, 1 failed",
    1,
  ],
  [
    "two reports",
    [1, 2].map((numPassedTests) => ({ numPassedTests, numFailedTests: 0, success: true, testResults: [ok] })),
    "3 passed, 0 failed",
    0,
  ],
])("%s", (_name, report, line, code) => {
  const directory = mkdtempSync(join(tmpdir(), "handrail-count-"));
  try {
    const paths = (Array.isArray(report) ? report : [report]).map((one, index) => {
      const path = join(directory, `tests-${index}.json`);
      if (one !== undefined) writeFileSync(path, JSON.stringify(one));
      return path;
    });
    const { status, stdout } = spawnSync(process.execPath, [resolve("scripts/count-tests.mjs"), ...paths], {
      encoding: "utf8",
      timeout: 120_000,
    });
    expect({ status, stdout }).toEqual({ status: code, stdout: `${line}\n` });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
