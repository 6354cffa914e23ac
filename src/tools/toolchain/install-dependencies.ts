/**
 * `install_dependencies`: what the lock file names, and nothing else.
 *
 * INVARIANTS: without a lock file nothing is installed; packages run no scripts of their own unless the operator allows them; only the registries are
 * reached, and each of them is named to policy.
 */
import { z } from "zod";
import { TOOLCHAIN_KEPT_BYTES } from "../../base/limits.ts";
import type { Access } from "../../model/access.ts";
import { commandOf } from "../../model/command.ts";
import { FailureWithoutEffect } from "../../model/failure.ts";
import type { Tool } from "../../model/tool.ts";
import {
  PACKAGE_MANAGERS,
  type PackageManager,
  type ProjectFileName,
  type Toolchain,
  type ToolchainCommand,
  UNKNOWN_TOOLCHAIN,
} from "../../model/toolchain.ts";
import { CARGO_ENVIRONMENT, POETRY_ENVIRONMENT, UNATTENDED } from "./environment.ts";
import { isPassed, RUN_PROPERTIES, runResult } from "./exec-result.ts";

const parameters = z.strictObject({
  manager: z
    .enum(PACKAGE_MANAGERS)
    .meta({ description: "`npm` runs `npm ci`, `poetry` runs `poetry install`, `cargo` runs `cargo fetch --locked`." }),
});

/** How one manager installs. */
interface Manager {
  /** The first of them that is there is used. */
  readonly lockFiles: readonly ProjectFileName[];
  /** How a person makes the lock file. */
  readonly lockedBy: string;
  readonly command: (scripts: boolean) => ToolchainCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly registries: readonly string[];
}

const MANAGERS: Readonly<Record<PackageManager, Manager>> = {
  npm: {
    lockFiles: ["package-lock.json", "npm-shrinkwrap.json"],
    lockedBy: "npm install --package-lock-only",
    command: (scripts) => ["npm", "ci", ...(scripts ? [] : ["--ignore-scripts"]), "--no-audit", "--no-fund"],
    environment: {},
    registries: ["registry.npmjs.org"],
  },
  poetry: {
    lockFiles: ["poetry.lock"],
    lockedBy: "poetry lock",
    command: () => ["poetry", "install", "--no-interaction"],
    environment: POETRY_ENVIRONMENT,
    registries: ["pypi.org", "files.pythonhosted.org"],
  },
  cargo: {
    lockFiles: ["Cargo.lock"],
    lockedBy: "cargo generate-lockfile",
    command: () => ["cargo", "fetch", "--locked"],
    environment: CARGO_ENVIRONMENT,
    registries: ["index.crates.io", "static.crates.io"],
  },
};

/** The tool `install_dependencies`. */
export const installDependencies: Tool<z.infer<typeof parameters>> = {
  name: "install_dependencies",
  title: "Install dependencies",
  description:
    "Installs exactly what the lock file names (`npm ci`, `poetry install`, `cargo fetch --locked`), reaching only the package registries. Packages run " +
    "no scripts of their own unless the operator allows it. New dependencies need a changed lock file, which a person makes.",
  parameters,
  outputSchema: {
    type: "object",
    properties: {
      ...RUN_PROPERTIES,
      installed: { type: "boolean", description: "The command ended with exit code 0." },
      lock_file: { type: "string" },
    },
    required: ["command", "installed", "lock_file", "stdout", "stderr", "duration_ms"],
  },
  capability: {
    effect: "exec",
    risk: "medium",
    approval: { level: "auto" },
    execution: { sandbox: "container", networkDefault: "proxy", manages: ["node_modules"] },
    network: { mode: "any", allowedHosts: Object.values(MANAGERS).flatMap(({ registries }) => registries) },
    labels: { outputTrust: "untrusted", outputDataClass: "internal" },
    audit: { logArgs: true, logOutput: false },
  },
  analyse: ({ manager }, toolchain) => accessesOf(manager, toolchain?.() ?? UNKNOWN_TOOLCHAIN),
  async execute({ manager }, { toolchain, exec }) {
    const known = toolchain();
    const { lockFiles, lockedBy, environment } = MANAGERS[manager];
    const lockFile = lockFiles.find((name) => known.files[name]);
    if (lockFile === undefined) {
      const message = `the workspace root has no ${lockFiles.map((name) => `\`${name}\``).join(" or ")}, and only locked dependencies are installed`;
      throw new FailureWithoutEffect(
        "NOT_SUPPORTED",
        message,
        `ask a person to make it, with \`${lockedBy}\`, and to look at what it names`,
      );
    }
    const command = commandFor(manager, known);
    const outcome = await exec.run({
      command: { argv: command },
      environment: { ...UNATTENDED, ...environment },
      timeoutMs: known.chosen.timeoutMs ?? 0,
      hosts: registriesOf(manager, known).map(({ host, port }) => `${host}:${port}`),
      keptBytesMax: TOOLCHAIN_KEPT_BYTES,
    });
    return runResult(commandOf(command).line, outcome, undefined, { installed: isPassed(outcome), lock_file: lockFile });
  },
};

function commandFor(manager: PackageManager, { chosen }: Toolchain): ToolchainCommand {
  return MANAGERS[manager].command(chosen.install?.scripts === true);
}

/** Registries with their ports. What a lock file says is no reason to reach a host: whoever can write it would choose where data goes. */
function registriesOf(manager: PackageManager, { chosen }: Toolchain): readonly { readonly host: string; readonly port: number }[] {
  const named = chosen.install?.registries[manager] ?? MANAGERS[manager].registries;
  return named.map((text) => {
    const [host = "", port = "443"] = text.split(":");
    return { host: host.toLowerCase(), port: Number(port) };
  });
}

function accessesOf(manager: PackageManager, toolchain: Toolchain): readonly Access[] {
  const lockFile = MANAGERS[manager].lockFiles.find((name) => toolchain.files[name]);
  return [
    { resource: commandOf(commandFor(manager, toolchain)), effect: "exec" },
    ...registriesOf(manager, toolchain).map((host): Access => ({ resource: { kind: "host", ...host }, effect: "network" })),
    ...(lockFile === undefined ? [] : [{ resource: { kind: "file", path: lockFile }, effect: "read" } as const]),
  ];
}
