// The npm packages: whether node_modules is what package-lock.json says, how it is made so, and whether its native
// parts load. It trusts the lock file's hashes; install scripts are never run.
//
// INVARIANT: npm writes node_modules/.package-lock.json last, so a tree whose installation was interrupted never
// matches.
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastLines, runCommand } from "./run-command.mjs";
import { SetupError, say } from "./say.mjs";

/** Packages that carry a native binary, each with the smallest program that proves that it loads. */
const NATIVE_PACKAGES = {
  "better-sqlite3": 'const Database = require("better-sqlite3"); new Database(":memory:").prepare("select 1").get();',
  koffi: 'require("koffi").load(null);',
  "@napi-rs/blake-hash": 'require("@napi-rs/blake-hash");',
};

const NETWORK_FAILURE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network/i;

/**
 * @param {string} root
 * @returns {boolean} whether every package of the lock file that this machine can have is installed in that version,
 * and no other
 */
export function packagesMatch(root) {
  const hidden = join(root, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const found = JSON.parse(readFileSync(hidden, "utf8")).packages;
  const same = (/** @type {string} */ path) =>
    found[path]?.version === wanted[path]?.version && found[path]?.integrity === wanted[path]?.integrity;
  const unlisted = Object.keys(found).filter((path) => !(path in wanted) || !same(path));
  const absent = Object.keys(wanted).filter(
    (path) => path !== "" && !(path in found) && wanted[path].optional !== true,
  );
  return unlisted.length === 0 && absent.length === 0;
}

/**
 * Installs node_modules from the lock file.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env with the chosen Node first on PATH
 * @throws {SetupError} when npm fails
 */
export async function installPackages(root, env) {
  const wanted = Object.keys(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages).length - 1;
  say(
    `installing the packages of the lock file (npm ci), up to ${wanted}; the first time it takes about half a minute`,
  );
  const args = [
    "ci",
    "--ignore-scripts",
    "--no-fund",
    "--no-audit",
    "--include=dev",
    "--include=optional",
    ...cacheOption(root, env),
  ];
  await npm(args, root, env, (seconds) =>
    say(`npm ci runs for ${seconds} s: ${foundPackages(root)} packages are there`),
  );
}

/** @param {string} root @returns {number} packages that npm has unpacked so far */
function foundPackages(root) {
  const modules = join(root, "node_modules");
  if (!existsSync(modules)) return 0;
  return readdirSync(modules).reduce((count, name) => {
    if (name.startsWith(".")) return count;
    return count + (name.startsWith("@") ? readdirSync(join(modules, name)).length : 1);
  }, 0);
}

/**
 * Runs npm and turns its failure into a message that says what to do next.
 *
 * @param {string[]} args
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @param {((seconds: number) => void) | undefined} onWait called every few seconds while it runs
 */
export async function npm(args, root, env, onWait = undefined) {
  const { code, output } = await runCommand("npm", args, { cwd: root, env: withoutLifecycle(env), onWait });
  if (code === 0) return;
  const line = `npm ${args.join(" ")}`;
  if (code === 127)
    throw new SetupError(
      `\`npm\` was not found; install Node.js with npm (on Debian: sudo apt-get install -y nodejs npm), then try again`,
    );
  const hint = NETWORK_FAILURE.test(output)
    ? "the package registry could not be reached: check the network and `npm config get registry`, then try again"
    : "correct what npm names, then try again";
  throw new SetupError(`\`${line}\` in \`${root}\` failed with exit code ${code}:\n${lastLines(output)}\n${hint}`);
}

/**
 * Loads every native package that the project depends on in the given Node.
 *
 * @param {string} root
 * @param {string} node path of the Node to try
 * @returns {Promise<string | undefined>} nothing when all load, otherwise what went wrong
 */
export async function nativeFault(root, node) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const [name, program] of Object.entries(NATIVE_PACKAGES)) {
    if (!(name in dependencies)) continue;
    const { code, output } = await runCommand(node, ["-e", program], { cwd: root, timeLimitMs: 60_000 });
    if (code !== 0) return `\`${name}\` does not load (exit code ${code}):\n${lastLines(output)}`;
  }
  return undefined;
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]} npm's cache moved into the project where the home directory cannot be written (a service account)
 */
export function cacheOption(root, env) {
  try {
    accessSync(env.HOME ?? "", constants.W_OK);
    return [];
  } catch {
    return ["--cache", join(root, ".toolchain/npm-cache")];
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv} without what an outer `npm test` says about itself, which would point the inner npm at
 * the wrong folder
 */
function withoutLifecycle(env) {
  const outer = /^npm_(lifecycle|package)_|^npm_config_(local_prefix|prefix|argv|ignore_scripts)$|^NODE_ENV$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !outer.test(name)));
}
