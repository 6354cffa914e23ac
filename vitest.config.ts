// Which tests run, and how: those under test/, in forked processes, two at a time (a test may spawn real sandboxes;
// more at once measure the machine instead of the code). Folders named `full` hold the long ones: HANDRAIL_FULL=1 adds
// them, and HANDRAIL_FULL=only runs nothing else. Random tests start from the one seed that test/random-seed.ts sets.
import { defineConfig } from "vitest/config";

const { HANDRAIL_FULL: full } = process.env;
const LONG = "test/**/full/**/*.test.ts";

/** A test that takes longer hangs: five times what the longest take on a machine of two processors. */
const STUCK_MS = 150_000;

export default defineConfig({
  test: {
    include: [full === "only" ? LONG : "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(full === undefined ? [LONG] : [])],
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
