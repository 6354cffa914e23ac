// Which tests run, and how: those under test/, in forked processes, two at a time (a test may spawn real sandboxes; more at
// once measure the machine instead of the code). Folders named `full` hold the long ones: HANDRAIL_FULL=1 adds them.
// Random tests start from the one seed that test/random-seed.ts sets.
import { defineConfig } from "vitest/config";

const full = process.env.HANDRAIL_FULL === "1";

/** A test that takes longer hangs: five times what the longest take on a machine of two processors. */
const STUCK_MS = 150_000;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(full ? [] : ["test/**/full/**"])],
    setupFiles: ["test/random-seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: STUCK_MS,
    hookTimeout: STUCK_MS,
    allowOnly: false,
    passWithNoTests: false,
    watch: false,
  },
});
