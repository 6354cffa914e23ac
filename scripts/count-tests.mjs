// Prints `N passed, M failed` from reports of vitest's JSON reporter, and fails unless tests ran in each and all
// passed. A test file that could not be loaded has no tests to count; it counts as one failure, and so does a missing
// report.
import { readFileSync } from "node:fs";

const counts = process.argv.slice(2).map(count);
const passed = counts.reduce((sum, one) => sum + one.passed, 0);
const failed = counts.reduce((sum, one) => sum + one.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || counts.length === 0 || counts.some((one) => one.passed === 0) ? 1 : 0;

/** @param {string} path */
function count(path) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    const broken = report.testResults.filter(
      (/** @type {{status: string, assertionResults: {status: string}[]}} */ file) =>
        file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed"),
    );
    const failed = report.numFailedTests + broken.length;
    // an error outside of any test
    return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed };
  } catch (error) {
    console.error(`no test report in \`${path}\`: ${error instanceof Error ? error.message : error}`);
    return { passed: 0, failed: 1 };
  }
}
