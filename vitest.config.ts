// Which tests run, and how: tests beside the code and under test/, in forked processes, two at a time (a test may spawn
// real sandboxes; more at once measure the machine instead of the code). test/full/ holds the long ones: HANDRAIL_FULL=1 adds them.
// Random tests start from the one seed that test/random-seed.ts sets.
import { defineConfig } from "vitest/config";

const full = process.env.HANDRAIL_FULL === "1";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(full ? [] : ["test/full/**"])],
    setupFiles: ["test/random-seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: false,
    passWithNoTests: false,
    watch: false,
  },
});
