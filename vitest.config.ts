// Which tests run, and how: those under test/, in forked processes, three at a time. That is one more than the
// processors of a small machine, because a test waits for disks and clocks in every fifth second; many more would
// measure the machine instead of the code. Folders named `full` hold the long ones: HANDRAIL_FULL=1 adds them, and
// HANDRAIL_FULL=only runs nothing else. Random tests start from the one seed that test/random-seed.ts sets.
import { defineConfig } from "vitest/config";

const { HANDRAIL_FULL: full } = process.env;
const LONG = "test/**/full/**/*.test.ts";

/** A test that takes longer hangs: ten times what the longest take on a machine of two processors. */
const STUCK_MS = 300_000;

export default defineConfig({
  test: {
    include: [full === "only" ? LONG : "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(full === undefined ? [LONG] : [])],
    setupFiles: ["test/random-seed.ts"],
    pool: "forks",
    maxWorkers: 3,
    testTimeout: STUCK_MS,
    hookTimeout: STUCK_MS,
    allowOnly: false,
    passWithNoTests: false,
    watch: false,
  },
});
