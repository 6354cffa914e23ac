// `npm run check`: everything that must hold before a change is kept. All steps run, also after a failure, one line
// each; the output of a step is shown only when it fails. `--no-tests` leaves the tests out (when they have just run).
import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";

/** A step that takes longer than this hangs. */
const STEP_TIME_LIMIT_MS = 20 * 60 * 1000;
const STEP_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

const STEPS = [
  {
    name: "format and lint",
    args: [
      "node_modules/@biomejs/biome/bin/biome",
      "ci",
      "--colors=off",
      "--diagnostic-level=warn",
      "--error-on-warnings",
      ".",
    ],
  },
  { name: "types", args: ["node_modules/typescript/bin/tsc", "-p", ".", "--noEmit"] },
  { name: "boundaries", args: ["scripts/boundaries.mjs"] },
  { name: "unused code", args: ["node_modules/knip/bin/knip.js", "--no-progress"] },
  { name: "generated files", args: ["scripts/generated.mjs"] },
  { name: "tests", args: ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot"] },
];

const options = process.argv.slice(2);
const unknown = options.find((option) => option !== "--no-tests");
if (unknown !== undefined) {
  console.error(`handrail: unknown option \`${unknown}\`; known is --no-tests`);
  process.exit(2);
}
let failed = 0;
for (const { name, args } of STEPS) {
  if (name === "tests" && options.includes("--no-tests")) continue;
  const started = performance.now();
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: STEP_TIME_LIMIT_MS,
    maxBuffer: STEP_OUTPUT_BYTES_MAX,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name.padEnd(16)} ${seconds.padStart(6)} s`);
  if (status === 0) continue;
  failed += 1;
  console.log(`${stdout}${stderr}${error?.message ?? ""}`.trimEnd().replace(/^/gm, "    "));
}
process.exitCode = failed > 0 ? 1 : 0;
