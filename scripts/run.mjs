// What `npm start`, `npm test` and the other npm scripts run: the set-up first, then the command with the right Node.
// Arguments after `--` reach the command as they are. It runs on Node 18 and needs no package.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { SetupError, say } from "./setup/say.mjs";
import { ensureTestPrograms } from "./setup/system-commands.mjs";
import { ensureReady, environmentFor, projectRoot } from "./setup.mjs";

const VITEST = "node_modules/vitest/vitest.mjs";

/** npm script: what the chosen Node is given, and what is added to the environment. */
const COMMANDS = {
  start: { args: ["src/cli/main.ts", "start"], env: {} },
  test: { args: [VITEST, "run"], env: {} },
  "test:full": { args: [VITEST, "run"], env: { HANDRAIL_FULL: process.env.HANDRAIL_FULL === "only" ? "only" : "1" } },
  check: { args: ["scripts/check.mjs"], env: {} },
  bench: { args: ["bench/main.ts"], env: {} },
  package: { args: ["scripts/package.mjs"], env: {} },
};

/** Seeds are whole numbers below this. */
const SEEDS = 2 ** 31;

const RUNS_TESTS = new Set(["test", "test:full", "check"]);

const [name = "", ...rest] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name)) {
  say(`unknown command \`${name}\`; known are ${Object.keys(COMMANDS).join(", ")}`);
  process.exit(2);
}
try {
  if (RUNS_TESTS.has(name)) await ensureTestPrograms(process.env);
  const node = await ensureReady();
  const { args, env } = COMMANDS[/** @type {keyof typeof COMMANDS} */ (name)];
  const seeded = name === "test:full" ? seedFor(process.env) : {};
  const environment = {
    NODE_COMPILE_CACHE: join(projectRoot, ".toolchain/compile-cache"),
    ...environmentFor(node),
    ...env,
    ...seeded,
  };
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", ...args, ...rest], {
    cwd: projectRoot,
    env: environment,
    stdio: "inherit",
  });
  // The terminal sends its signals to the child as well; only a signal meant for this process alone has to be passed
  // on.
  process.on("SIGINT", () => undefined);
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);
  });
} catch (error) {
  say(
    error instanceof SetupError
      ? error.message
      : `set-up failed: ${error instanceof Error ? error.stack : String(error)}`,
  );
  process.exitCode = 1;
}

/**
 * The seed of the long tests' random cases, which is told so that a failure can be run again.
 * @param {NodeJS.ProcessEnv} environment
 */
function seedFor({ HANDRAIL_SEED: given }) {
  const seed = given ?? String(randomInt(SEEDS));
  say(`random tests start from seed ${seed}; run them again with \`HANDRAIL_SEED=${seed} npm run test:full\``);
  return { HANDRAIL_SEED: seed };
}
