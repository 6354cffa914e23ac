// Which programs of the operating system Handrail needs, and how they come onto the machine.
//
// It installs through apt-get when it may (root, or sudo without a password) and otherwise prints the exact line to
// run. INVARIANT: it never asks for a password and never installs anything that is not in the table.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { lastLines, runCommand } from "./run-command.mjs";
import { SetupError, say } from "./say.mjs";

/** A program that takes longer to say whether it works hangs. */
const PROBE_MS = 60_000;

/** @typedef {{command: string, aptPackage: string, why: string}} SystemCommand */

/** @type {readonly SystemCommand[]} */
export const SYSTEM_COMMANDS = [
  { command: "git", aptPackage: "git", why: "the git tools run it" },
  { command: "bwrap", aptPackage: "bubblewrap", why: "commands run in the sandbox that it makes" },
  { command: "unshare", aptPackage: "util-linux", why: "the sandbox makes its namespaces with it" },
  {
    command: "nsenter",
    aptPackage: "util-linux",
    why: "commands of a kernel that runs as root enter their view of the workspace with it",
  },
  { command: "socat", aptPackage: "socat", why: "commands reach the egress proxy through it" },
  { command: "flock", aptPackage: "util-linux", why: "two set-ups at once take turns with it" },
];

/**
 * What only the tests need: each is there when its probe exits with 0.
 *
 * @type {readonly (SystemCommand & {probe: (env: NodeJS.ProcessEnv) => [string, string[]]})[]}
 */
export const TEST_PROGRAMS = [
  {
    command: "runc",
    aptPackage: "runc",
    why: "commands in containers are tested with it",
    probe: () => ["/bin/sh", ["-c", "command -v runc"]],
  },
  {
    command: "newuidmap",
    aptPackage: "uidmap",
    why: "containers of ordinary users are tested with it",
    probe: () => ["/bin/sh", ["-c", "command -v newuidmap"]],
  },
  {
    command: "rg",
    aptPackage: "ripgrep",
    why: "that the sandbox holds what it runs for each file (`--pre`) is tested with it",
    probe: () => ["/bin/sh", ["-c", "command -v rg"]],
  },
  {
    command: "mkfs.xfs",
    aptPackage: "xfsprogs",
    why: "copies that share their blocks with what they were made of are tested on its file system",
    probe: () => ["/bin/sh", ["-c", "command -v mkfs.xfs || test -x /usr/sbin/mkfs.xfs"]],
  },
  {
    command: "curl",
    aptPackage: "curl",
    why: "that commands send secrets which they do not know is tested with it",
    probe: () => ["/bin/sh", ["-c", "test -x /usr/bin/curl"]],
  },
  {
    command: "pip of the system",
    aptPackage: "python3-pip",
    why: "that commands send secrets which they do not know is tested with it",
    probe: () => ["/usr/bin/python3", ["-c", "import pip"]],
  },
  {
    command: "python3 with requests",
    aptPackage: "python3-requests",
    why: "that commands send secrets which they do not know is tested with it",
    probe: () => ["/usr/bin/python3", ["-c", "import requests"]],
  },
  {
    command: "python3 with boto3",
    aptPackage: "python3-boto3",
    why: "that requests are signed anew is tested with it",
    probe: () => ["/usr/bin/python3", ["-c", "import boto3"]],
  },
  {
    command: "dbus-run-session",
    aptPackage: "dbus",
    why: "that values of secrets are kept in a keyring is tested with it",
    probe: () => ["/usr/bin/dbus-run-session", ["--version"]],
  },
  {
    command: "gnome-keyring-daemon",
    aptPackage: "gnome-keyring",
    why: "that values of secrets are kept in a keyring is tested with it",
    probe: () => ["/usr/bin/gnome-keyring-daemon", ["--version"]],
  },
  {
    command: "python3 with grpc",
    aptPackage: "python3-grpcio",
    why: "the Python client in examples/ is run by a test (HANDRAIL_TEST_PYTHON names another interpreter)",
    probe: (env) => [testPython(env), ["-c", "import grpc, google.protobuf"]],
  },
];

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} the Python that tests run; the system's own, for which the system's packages are made
 */
export function testPython(env) {
  return env.HANDRAIL_TEST_PYTHON || "/usr/bin/python3";
}

/**
 * @param {string} command name of a program
 * @param {NodeJS.ProcessEnv} env
 * @returns {boolean} whether a directory of PATH holds it as an executable file
 */
export function isOnPath(command, env) {
  return (env.PATH ?? "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return directory !== "";
    } catch {
      return false;
    }
  });
}

/**
 * Makes sure that every program of the table is there.
 *
 * @param {NodeJS.ProcessEnv} env
 * @throws {SetupError} when one is missing and may not be installed, or its installation fails
 */
export async function ensureSystemCommands(env) {
  const missingNow = async () => SYSTEM_COMMANDS.filter(({ command }) => !isOnPath(command, env));
  await ensure(missingNow, "these programs are missing", env);
}

/**
 * Makes sure that every program is there which only the tests need.
 *
 * @param {NodeJS.ProcessEnv} env
 * @throws {SetupError} when one is missing and may not be installed, or its installation fails
 */
export async function ensureTestPrograms(env) {
  const missingNow = async () => {
    const missing = [];
    for (const program of TEST_PROGRAMS) {
      const [command, args] = program.probe(env);
      if ((await runCommand(command, args, { env, timeLimitMs: PROBE_MS })).code !== 0) missing.push(program);
    }
    return missing;
  };
  await ensure(missingNow, "these programs, which only the tests need, are missing", env);
}

/**
 * @param {() => Promise<readonly SystemCommand[]>} missingNow
 * @param {string} heading what to say when they may not be installed
 * @param {NodeJS.ProcessEnv} env
 */
async function ensure(missingNow, heading, env) {
  const missing = await missingNow();
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map(({ aptPackage }) => aptPackage))];
  const reasons = missing.map(({ command, why }) => `  ${command}: ${why}`).join("\n");
  const prefix = await permittedPrefix(env);
  if (prefix === undefined || !isOnPath("apt-get", env)) {
    throw new SetupError(
      `${heading}:\n${reasons}\nrun this, then try again:\n  sudo apt-get install -y ${packages.join(" ")}\n` +
        "(on a system without apt-get, install the same programs with its own package manager)",
    );
  }
  await install(prefix, packages, env);
  const still = await missingNow();
  if (still.length > 0)
    throw new SetupError(`apt-get installed ${packages.join(" ")}, but \`${still[0]?.command}\` is still missing`);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string[] | undefined>} the words to put before apt-get, or nothing when it may not be run
 */
async function permittedPrefix(env) {
  const user = await runCommand("id", ["-u"], { env });
  if (user.code === 0 && user.output.trim() === "0") return [];
  const sudo = await runCommand("sudo", ["-n", "true"], { env, timeLimitMs: 10_000 });
  return sudo.code === 0 ? ["sudo", "-n"] : undefined;
}

/**
 * @param {string[]} prefix
 * @param {string[]} packages
 * @param {NodeJS.ProcessEnv} env
 */
async function install(prefix, packages, env) {
  const apt = async (/** @type {string[]} */ args) => {
    const words = [
      ...prefix,
      "env",
      "DEBIAN_FRONTEND=noninteractive",
      "apt-get",
      "-o",
      "DPkg::Lock::Timeout=300",
      ...args,
    ];
    return runCommand(/** @type {string} */ (words[0]), words.slice(1), { env });
  };
  const installing = ["install", "-y", "--no-install-recommends", ...packages];
  say(`installing system packages: ${packages.join(" ")}`);
  if ((await apt(installing)).code === 0) return;
  say("refreshing the package lists (apt-get update)");
  await apt(["update"]);
  const second = await apt(installing);
  if (second.code !== 0) {
    throw new SetupError(
      `\`apt-get ${installing.join(" ")}\` failed, also after \`apt-get update\`:\n${lastLines(second.output)}\ninstall these packages, then try again`,
    );
  }
}
