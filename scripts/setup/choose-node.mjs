// Which Node runs Handrail: the running one when it is new enough, otherwise a private one under .toolchain/, so that
// nothing on the machine changes. The private one is an npm package that carries the binary; npm checks its hash.
//
// INVARIANT: .toolchain/node-24 appears by rename, so a half-installed Node is never used.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheOption, npm } from "./packages.mjs";
import { runCommand } from "./run-command.mjs";
import { SetupError, say } from "./say.mjs";

const SUPPORTED_MAJOR = 22;
const SUPPORTED_MINOR = 18; // the first that runs TypeScript by stripping its types, without a flag
const PRIVATE_MAJOR = 24;

/**
 * @param {string} version such as `v22.18.0`
 * @returns {boolean} whether Handrail runs on it
 */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return major > SUPPORTED_MAJOR || (major === SUPPORTED_MAJOR && minor >= SUPPORTED_MINOR);
}

/**
 * @param {string} root
 * @returns {string} where the private Node's binary is or will be
 */
export function privateNodePath(root) {
  return join(root, `.toolchain/node-${PRIVATE_MAJOR}/bin/node`);
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} path of a Node that is new enough; installed first when there is none
 */
export async function chooseNode(root, env) {
  if (isSupported(process.version)) return process.execPath;
  return privateNode(root, env);
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} path of the private Node, installed first when it is not there or does not run
 * @throws {SetupError} when there is none for this machine, or npm fails
 */
export async function privateNode(root, env) {
  const node = privateNodePath(root);
  if (existsSync(node) && (await runs(node))) return node;
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    throw new SetupError(
      `Node ${process.version} is too old and there is no private one for ${process.platform}-${process.arch}: ` +
        `install Node ${PRIVATE_MAJOR} (at least ${SUPPORTED_MAJOR}.${SUPPORTED_MINOR}), then try again`,
    );
  }
  const name = `node-linux-${process.arch}`;
  say(
    `Node ${process.version} is older than ${SUPPORTED_MAJOR}.${SUPPORTED_MINOR}: installing a private Node ${PRIVATE_MAJOR} (${name})`,
  );
  const partial = join(root, ".toolchain/node.partial");
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const options = [
    "--no-save",
    "--ignore-scripts",
    "--no-fund",
    "--no-audit",
    "--no-package-lock",
    ...cacheOption(root, env),
  ];
  await npm(["install", "--prefix", partial, ...options, `${name}@${PRIVATE_MAJOR}`], root, env);
  const installed = join(partial, "node_modules", name);
  if (!(await runs(join(installed, "bin/node")))) {
    throw new SetupError(
      `the private Node of \`${name}\` does not run here: install Node ${PRIVATE_MAJOR} yourself, put it first on PATH, then try again`,
    );
  }
  const target = join(root, `.toolchain/node-${PRIVATE_MAJOR}`);
  rmSync(target, { recursive: true, force: true });
  renameSync(installed, target);
  rmSync(partial, { recursive: true, force: true });
  return node;
}

/**
 * @param {string} node
 * @returns {Promise<boolean>} whether it starts and is new enough
 */
async function runs(node) {
  const { code, output } = await runCommand(node, ["--version"], { timeLimitMs: 60_000 });
  return code === 0 && isSupported(output.trim());
}
