/**
 * `install_dependencies`: what the lock file names, and nothing else.
 *
 * INVARIANTS: without a lock file nothing is installed; packages run no scripts of their own unless the operator allows
 * them; only the registries are reached, and each of them is named to policy; a manager sees judged files in a
 * selection of its own and none of the workspace's configuration, so that no program of the workspace runs while a
 * registry can be reached; the files that were judged are those that an approval was given for.
 */
import { z } from "zod";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { Access } from "../../model/place/access.ts";
import { commandOf } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import {
  PACKAGE_MANAGERS,
  type PackageManager,
  type Toolchain,
  type ToolchainCommand,
  type ToolchainView,
  UNKNOWN_TOOLCHAIN,
} from "../../model/work/toolchain.ts";
import { RUNS } from "../kit/capabilities.ts";
import { commandTexts } from "../kit/command-text.ts";
import { requireWithinBounds } from "../kit/ended-run.ts";
import { flag, text } from "../kit/result-schema.ts";
import { TOOLCHAIN_KEPT_BYTES } from "./check-tools.ts";
import { UNATTENDED } from "./environment.ts";
import { isPassed, RUN_PROPERTIES, runResult } from "./exec-result.ts";
import { cargo } from "./install/cargo.ts";
import { type InstallFiles, type Manager, type Registry, refused } from "./install/installation.ts";
import { npm } from "./install/npm.ts";
import { poetry } from "./install/poetry.ts";

/** Manifests of one installation: packages of the workspace, each a mount of the run. */
const INSTALL_MANIFESTS_MAX = 500;

const parameters = z.strictObject({
  manager: z
    .enum(PACKAGE_MANAGERS)
    .meta({ description: "`npm` runs `npm ci`, `poetry` runs `poetry install`, `cargo` runs `cargo fetch --locked`." }),
});

const MANAGERS: Readonly<Record<PackageManager, Manager>> = { npm, poetry, cargo };

/** The tool `install_dependencies`. */
export const installDependencies: Tool<z.infer<typeof parameters>> = {
  name: "install_dependencies",
  title: "Install dependencies",
  description:
    "Installs exactly what the lock file names (`npm ci`, `poetry install`, `cargo fetch --locked`), reaching only the package registries. Packages run " +
    "no scripts of their own unless the operator allows it, and no configuration of the workspace is obeyed. New dependencies need a changed lock file, " +
    "which a person makes.",
  parameters,
  outputSchema: {
    type: "object",
    properties: {
      ...RUN_PROPERTIES,
      installed: flag("The command ended with exit code 0."),
      lock_file: text(),
    },
    required: ["command", "installed", "lock_file", "stdout", "stderr", "duration_ms"],
  },
  capability: {
    ...RUNS,
    execution: { sandbox: "container", networkDefault: "proxy", manages: ["node_modules"] },
    network: { mode: "any", allowedHosts: Object.values(MANAGERS).flatMap(({ registries }) => registries) },
    labels: { outputTrust: "untrusted", outputDataClass: "internal" },
  },
  analyse: ({ manager }, toolchain = () => UNKNOWN_TOOLCHAIN) => accessesOf(manager, toolchain),
  projectWords({ manager }, toolchain) {
    const { files, lockFile } = lookAt(manager, toolchain);
    return lockFile === undefined ? [] : MANAGERS[manager].words(files, lockFile);
  },
  async execute({ manager }, { toolchain, exec }) {
    const { known, files, lockFile, manifests } = lookAt(manager, toolchain);
    if (lockFile === undefined) throw notLocked(MANAGERS[manager]);
    if (manifests.length > INSTALL_MANIFESTS_MAX) {
      throw refused(
        lockFile,
        `names more than ${INSTALL_MANIFESTS_MAX} packages of the workspace`,
        "ask a person to install them",
      );
    }
    const command = commandFor(manager, known);
    const registries = registriesOf(manager, known);
    const { install } = known.chosen;
    const grants = {
      registries,
      isOwn: install?.registries[manager] !== undefined,
      scripts: install?.scripts === true,
    };
    const { environment, selection } = await MANAGERS[manager].prepare(files, lockFile, grants);
    const outcome = await exec.run({
      command: { argv: command },
      environment: { ...UNATTENDED, ...environment },
      timeoutMs: known.chosen.timeoutMs ?? 0,
      hosts: registries.map(({ host, port }) => `${host}:${port}`),
      keptBytesMax: TOOLCHAIN_KEPT_BYTES,
      selection,
    });
    requireWithinBounds(
      outcome,
      "try again; ask the operator for more time (`toolchain.timeout_seconds`) if it goes on",
    );
    const more = { installed: isPassed(outcome), lock_file: lockFile };
    return runResult({ command: commandOf(command).line }, outcome, more);
  },
  toText: (data) =>
    commandTexts(data, [`${data["installed"] === true ? "installed" : "failed"}: ${String(data["command"])}`]),
};

/** What an installation goes by, as it was first seen. */
interface Look {
  readonly known: Toolchain;
  readonly files: InstallFiles;
  readonly lockFile: string | undefined;
  readonly manifests: readonly string[];
}

function lookAt(manager: PackageManager, toolchain: ToolchainView): Look {
  const { lockFiles, manifests, furtherManifests } = MANAGERS[manager];
  const known = toolchain([...lockFiles, ...manifests]);
  const { further: files = {} } = known;
  const lockFile = lockFiles.find((name) => files[name]);
  if (lockFile === undefined) return { known, files, lockFile, manifests };
  const further = furtherManifests(files, lockFile).slice(0, INSTALL_MANIFESTS_MAX);
  return { known, files: toolchain(further).further ?? {}, lockFile, manifests: [...manifests, ...further] };
}

function notLocked({ lockFiles, lockedBy }: Manager): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the workspace root has no ${lockFiles.map((name) => `\`${name}\``).join(" or ")}, and only locked dependencies are installed`,
    `ask a person to make it, with \`${lockedBy}\`, and to look at what it names`,
  );
}

function commandFor(manager: PackageManager, { chosen }: Toolchain): ToolchainCommand {
  return MANAGERS[manager].command(chosen.install?.scripts === true);
}

/**
 * Registries with their ports. What a lock file says is no reason to reach a host: whoever can write it would choose
 * where data goes.
 */
function registriesOf(manager: PackageManager, { chosen }: Toolchain): readonly Registry[] {
  const named = chosen.install?.registries[manager] ?? MANAGERS[manager].registries;
  return named.map((text) => {
    const [host = "", port = "443"] = text.split(":");
    return { host: host.toLowerCase(), port: Number(port) };
  });
}

/** What policy, leases and people are told where packages may run programs of their own. */
const RUNS_SCRIPTS = {
  dangers: ["argument_program"],
  reasons: ["the installation starts another program: packages run scripts of their own"],
} as const;

/** The files are accesses too: lease and policy judge them, and an approval is bound to them. */
function accessesOf(manager: PackageManager, toolchain: ToolchainView): readonly Access[] {
  const { known, files, lockFile, manifests } = lookAt(manager, toolchain);
  const read = lockFile === undefined ? [] : [lockFile, ...manifests.filter((path) => files[path])];
  const runsScripts = known.chosen.install?.scripts === true && MANAGERS[manager].runsScripts;
  return [
    { resource: commandOf(commandFor(manager, known), runsScripts ? RUNS_SCRIPTS : {}), effect: "exec" },
    ...registriesOf(manager, known).map((host): Access => ({ resource: { kind: "host", ...host }, effect: "network" })),
    ...read.map((path): Access => ({ resource: { kind: "file", path }, effect: "read" })),
  ];
}
