// The last lines of a continuous-integration run: what failed, and the count, which is never green for want of tests.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const path = resolve("test/a.test.ts");
const ok = { name: path, status: "passed", message: "", assertionResults: [{ status: "passed" }] };
const broken = { name: path, status: "failed", message: "it does not load", assertionResults: [] };
const wrong = { status: "failed", fullName: "a b", failureMessages: ["expected 1\n".repeat(20)] };
const red = { name: path, status: "failed", message: "", assertionResults: [{ status: "passed" }, wrong] };

test.each([
  ["all passed", { numPassedTests: 3, numFailedTests: 0, success: true, testResults: [ok] }, "3 passed, 0 failed", 0],
  [
    "one failed",
    { numPassedTests: 2, numFailedTests: 1, success: false, testResults: [ok, red] },
    `failed: test/a.test.ts > a b\n${"expected 1\n".repeat(12)}...\n2 passed, 1 failed`,
    1,
  ],
  [
    "a file that does not load",
    { numPassedTests: 2, numFailedTests: 0, success: false, testResults: [ok, broken] },
    "failed: test/a.test.ts\nit does not load\n2 passed, 1 failed",
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
