// Prints `N passed, M failed` from reports of vitest's JSON reporter, after the names of what failed and why, and
// fails unless tests ran in each and all passed. A test file that could not be loaded has no tests to count; it counts
// as one failure, and so does a missing report.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

/** How much of an error is shown, in lines: what was wanted, what came, and where. */
const SHOWN_LINES = 12;

/**
 * @typedef {{status: string, fullName: string, failureMessages: string[]}} Assertion
 * @typedef {{name: string, status: string, message: string, assertionResults: Assertion[]}} TestFile
 */

const counts = process.argv.slice(2).map(count);
const passed = counts.reduce((sum, one) => sum + one.passed, 0);
const failed = counts.reduce((sum, one) => sum + one.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || counts.length === 0 || counts.some((one) => one.passed === 0) ? 1 : 0;

/** @param {string} path */
function count(path) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    /** @type {TestFile[]} */
    const files = report.testResults.filter((/** @type {TestFile} */ file) => file.status === "failed");
    const broken = files.filter((file) => !file.assertionResults.some(({ status }) => status === "failed"));
    for (const file of files) showFailures(file);
    const failed = report.numFailedTests + broken.length;
    // an error outside of any test
    return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed };
  } catch (error) {
    console.error(`no test report in \`${path}\`: ${error instanceof Error ? error.message : error}`);
    return { passed: 0, failed: 1 };
  }
}

/** @param {TestFile} file */
function showFailures(file) {
  const tests = file.assertionResults.filter(({ status }) => status === "failed");
  const path = relative(process.cwd(), file.name);
  if (tests.length === 0) console.log(`failed: ${path}\n${startOf(file.message)}`);
  for (const test of tests) {
    console.log(`failed: ${path} > ${test.fullName}\n${startOf(test.failureMessages.join("\n"))}`);
  }
}

/** @param {string} text */
function startOf(text) {
  const lines = text.split("\n");
  return [...lines.slice(0, SHOWN_LINES), ...(lines.length > SHOWN_LINES ? ["..."] : [])].join("\n");
}
