// Prints `N passed, M failed` from a report of vitest's JSON reporter, and fails unless tests ran and all passed.
// A test file that could not be loaded has no tests to count; it counts as one failure. No report at all: one failure.
import { readFileSync } from "node:fs";

const path = process.argv[2] ?? "";
let passed = 0;
let failed = 1;
try {
  const report = JSON.parse(readFileSync(path, "utf8"));
  const broken = report.testResults.filter(
    (/** @type {{status: string, assertionResults: {status: string}[]}} */ file) =>
      file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed"),
  );
  passed = report.numPassedTests;
  failed = report.numFailedTests + broken.length;
  if (failed === 0 && !report.success) failed = 1; // an error outside of any test
} catch (error) {
  console.error(`no test report in \`${path}\`: ${error instanceof Error ? error.message : error}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
