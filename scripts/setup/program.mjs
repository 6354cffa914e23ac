// The compiled program (`scripts/compile-program.mjs`): whether it is that of the present sources, and how it is made
// so. It saves time and decides nothing: where it cannot be made, the sources run, and the set-up says so.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { say } from "./say.mjs";

const COMPILE_MS_MAX = 120_000;
const LIST_BYTES_MAX = 4 * 1024 * 1024;

/**
 * @param {string} root
 * @returns {string} what a program is made from, as the launcher lists it
 * @throws {Error} when it cannot be listed
 */
export function listSources(root) {
  const { status, stdout, error } = spawnSync("sh", ["-c", ". ./scripts/setup/list-sources.sh"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: LIST_BYTES_MAX,
  });
  if (status !== 0 || stdout === "" || stdout.endsWith("unlisted\n"))
    throw new Error(`the sources cannot be listed: ${error?.message ?? stdout}`);
  return stdout;
}

/**
 * @param {string} root
 * @returns {boolean} whether the program has to be compiled, and can be: not in an installation that this user must not
 * write
 */
export function isProgramDue(root) {
  if (!existsSync(join(root, "node_modules/rolldown")) || programMatches(root)) return false;
  try {
    accessSync(join(root, ".toolchain"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} root
 * @returns {boolean} whether the compiled program is that of the sources as they are
 */
export function programMatches(root) {
  try {
    return readFileSync(join(root, ".toolchain/program/sources"), "utf8") === listSources(root);
  } catch {
    return false; // none, or one that nobody can tell: compile
  }
}

/**
 * Compiles the program. A failure is said and is none of the set-up: whoever works on the sources may have left them in
 * pieces.
 *
 * @param {string} root
 * @param {string} node path of the chosen Node
 */
export async function compileProgram(root, node) {
  say("compiling the command line, so that it starts sooner");
  const { code, output } = await runCommand(node, [join(root, "scripts/compile-program.mjs")], {
    cwd: root,
    timeLimitMs: COMPILE_MS_MAX,
  });
  if (code !== 0)
    say(`the program could not be compiled and starts from its sources, which takes longer: ${faultIn(output)}`);
}

/**
 * @param {string} output
 * @returns {string} the line that says what is wrong
 */
function faultIn(output) {
  const lines = output.split("\n").map((line) => line.trim());
  return lines.find((line) => /error/i.test(line)) ?? lines.find((line) => line !== "") ?? "no reason was given";
}
