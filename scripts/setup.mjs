// Brings a fresh checkout to where Handrail runs: system programs, a supported Node, the npm packages, the compiled
// program, in this order. It needs nothing but Node 18 and npm, is silent when there is nothing to do, and may be run
// any number of times, interrupted, or by several processes at once.
//
// Turns are taken with flock(1): the kernel releases the lock when its holder dies, so there is no stale lock to
// recognise. The work itself is a child process of flock, started with `--locked`.

import { spawn } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseNode, privateNode, privateNodePath } from "./setup/choose-node.mjs";
import { installPackages, nativeFault, packagesMatch } from "./setup/packages.mjs";
import { compileProgram, isProgramDue } from "./setup/program.mjs";
import { readStamp, refreshStamp, removeStamp, writeStamp } from "./setup/ready-stamp.mjs";
import { runCommand } from "./setup/run-command.mjs";
import { SetupError, say } from "./setup/say.mjs";
import { ensureSystemCommands } from "./setup/system-commands.mjs";

const BUSY = 75; // flock's exit code for "somebody else holds it", chosen apart from any of ours
const WAIT_SECONDS_MAX = 1800; // longer than one whole set-up on a slow line

/** Where the project lies. */
export const projectRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Makes sure that everything is installed.
 *
 * @returns {Promise<string>} path of the Node to run Handrail with
 * @throws {SetupError} with a message for the user
 */
export async function ensureReady() {
  await ensureSystemCommands(process.env);
  const node = readStamp(projectRoot);
  if (node !== undefined && !isProgramDue(projectRoot)) {
    refreshStamp(projectRoot);
    return node;
  }
  await takeTurn();
  const now = readStamp(projectRoot);
  if (now === undefined)
    throw new SetupError("the set-up ended without its stamp; run it again: node scripts/setup.mjs");
  return now;
}

/**
 * @param {string} node path of the chosen Node
 * @returns {NodeJS.ProcessEnv} this environment with that Node first on PATH
 */
export function environmentFor(node) {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}` };
}

/** Runs the set-up in a child that holds the lock; waits for another one's turn to end. */
async function takeTurn() {
  const lock = join(projectRoot, ".toolchain/lock");
  try {
    mkdirSync(dirname(lock), { recursive: true });
  } catch (error) {
    throw new SetupError(
      `\`${projectRoot}\` cannot be written (${error instanceof Error ? error.message : error}): run the set-up once as its owner`,
    );
  }
  let code = await underLock(["-n", "-E", String(BUSY)], lock);
  if (code === BUSY) {
    say("another set-up is running: waiting for it to end");
    code = await underLock(["-w", String(WAIT_SECONDS_MAX), "-E", String(BUSY)], lock);
    if (code === BUSY)
      throw new SetupError(
        `another set-up did not end within ${WAIT_SECONDS_MAX / 60} minutes; end it, then try again`,
      );
  }
  if (code !== 0) process.exit(code); // the child has said why
}

/**
 * @param {string[]} options flock's
 * @param {string} lock
 * @returns {Promise<number>} exit code
 */
function underLock(options, lock) {
  return new Promise((resolve, reject) => {
    const words = [...options, lock, process.execPath, join(projectRoot, "scripts/setup.mjs"), "--locked"];
    const child = spawn("flock", words, { cwd: projectRoot, stdio: ["ignore", 2, 2] });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** The work: only ever run by the holder of the lock. */
async function setUp() {
  const node = readStamp(projectRoot) ?? (await install());
  if (isProgramDue(projectRoot)) await compileProgram(projectRoot, node);
}

/** @returns {Promise<string>} path of the Node that everything was installed for */
async function install() {
  const started = Date.now();
  removeStamp(projectRoot);
  let node = await chooseNode(projectRoot, process.env);
  let fault = await packagesFor(node);
  if (fault !== undefined && node !== privateNodePath(projectRoot)) {
    say(`the running Node cannot load a native package; trying a private one: ${fault.split("\n", 1)[0]}`);
    node = await privateNode(projectRoot, environmentFor(node));
    fault = await packagesFor(node);
  }
  if (fault !== undefined) throw new SetupError(`${fault}\nremove node_modules and .toolchain, then try again`);
  const { output } = await runCommand(node, ["--version"]);
  writeStamp(projectRoot, node, output.trim());
  say(`ready after ${Math.ceil((Date.now() - started) / 1000)} s`);
  return node;
}

/**
 * @param {string} node
 * @returns {Promise<string | undefined>} nothing when the packages are installed and load in it
 */
async function packagesFor(node) {
  if (!packagesMatch(projectRoot)) await installPackages(projectRoot, environmentFor(node));
  return nativeFault(projectRoot, node);
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === realpathSync(process.argv[1])) {
  try {
    await (process.argv.includes("--locked") ? setUp() : ensureReady());
  } catch (error) {
    say(
      error instanceof SetupError
        ? error.message
        : `set-up failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
    process.exitCode = 1;
  }
}
