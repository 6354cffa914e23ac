/**
 * `install_package`: one package of the machine, in one exact version.
 *
 * INVARIANTS: name and version stand where no option can, in a form that their manager reads as nothing else; nothing
 * is removed or downgraded for it; dependencies of projects are refused, because a lock file says what those are.
 */
import { z } from "zod";
import { MAX_ID_LEN } from "../../base/limits.ts";
import type { Access } from "../../model/place/access.ts";
import { commandOf } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { MachineCommand } from "../../model/work/machine.ts";
import type { ListedManager, SystemManager, SystemSettings } from "../../model/work/system.ts";
import { flag } from "../kit/result-schema.ts";
import { SYSTEM_CAPABILITY } from "./capability.ts";
import { RUN_PROPERTIES, RUN_REQUIRED, requireEnded, runResult } from "./run-result.ts";

/** How one manager is told to install. */
interface Manager {
  readonly name: RegExp;
  readonly version: RegExp;
  /** As in a message about it. */
  readonly exact: string;
  readonly arguments: (name: string, version: string, listed: ListedManager) => readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly repair: string;
}

const SEMANTIC_VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]*[0-9A-Za-z])?$/;

const MANAGERS: Readonly<Record<SystemManager, Manager>> = {
  apt: {
    name: /^[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+.])?(?::[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?$/,
    // apt reads a `-` or `+` at the very end as "remove" or "install": no version that ends so can be told from that.
    version: /^(?:\d+:)?\d(?:[0-9A-Za-z.+~-]*[0-9A-Za-z.~])?$/,
    exact: "a whole version as `apt-cache policy` shows it, such as `7.88.1-10+deb12u5`",
    arguments: (name, version) => [
      "install",
      "--yes",
      "--no-remove",
      "--no-install-recommends",
      "--option=APT::Cmd::Pattern-Only=true", // an unknown name is no pattern
      "--option=Dpkg::Options::=--force-confdef",
      "--option=Dpkg::Options::=--force-confold",
      "--option=Dpkg::Use-Pty=0",
      "--option=DPkg::Lock::Timeout=60",
      "--",
      `${name}=${version}`,
    ],
    environment: { DEBIAN_FRONTEND: "noninteractive", APT_LISTCHANGES_FRONTEND: "none", NEEDRESTART_MODE: "l" },
    repair: "look at the state of the packages; `dpkg --configure -a` goes on with what was begun",
  },
  cargo: {
    name: /^[A-Za-z][A-Za-z0-9_-]*$/,
    version: SEMANTIC_VERSION,
    exact: "a whole version, such as `1.2.3`",
    arguments: (name, version, { root }) => [
      "install",
      "--locked",
      ...(root === undefined ? [] : [`--root=${root}`]),
      `--version==${version}`,
      "--",
      name,
    ],
    environment: { CARGO_TERM_COLOR: "never", CARGO_NET_RETRY: "2" },
    repair:
      "look at what is installed with `verify_binary`; an installation that was broken off leaves the old program as it was",
  },
  "npm-g": {
    name: /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/,
    version: SEMANTIC_VERSION,
    exact: "a whole version, such as `1.2.3`",
    arguments: (name, version, { scripts }) => [
      "install",
      "--global",
      ...(scripts ? [] : ["--ignore-scripts"]),
      "--no-audit",
      "--no-fund",
      "--",
      `${name}@${version}`,
    ],
    environment: { NO_COLOR: "1", NO_UPDATE_NOTIFIER: "1" },
    repair: "look at what is installed with `verify_binary`, and install it again",
  },
};

/** What installs the dependencies of projects, and what to use in its place. */
const PROJECT_MANAGERS: Readonly<Record<string, string>> = {
  ...{ npm: "npm", pnpm: "npm", yarn: "npm", bun: "npm" },
  ...{
    pip: "poetry",
    pip3: "poetry",
    pipx: "poetry",
    poetry: "poetry",
    pipenv: "poetry",
    uv: "poetry",
    conda: "poetry",
  },
};

type Arguments = { readonly manager: SystemManager; readonly package: string; readonly version: string };

/** The tool `install_package` for the managers that `packages` lists; none without any. */
export function installPackage({ packages }: SystemSettings): Tool<Arguments> | undefined {
  const [first, ...others] = Object.keys(packages) as SystemManager[];
  if (first === undefined) return undefined;
  const parameters = parametersOf([first, ...others]);
  return {
    name: "install_package",
    title: "Install a package of the machine",
    description:
      "Installs one package of the machine itself (not of a project) in one exact version, without questions. For dependencies of a project use " +
      "`install_dependencies`. A package that cannot be installed is a result: look at `installed`.",
    parameters,
    outputSchema: {
      type: "object",
      properties: {
        ...RUN_PROPERTIES,
        installed: flag("The command ended with exit code 0."),
      },
      required: [...RUN_REQUIRED, "installed"],
    },
    capability: SYSTEM_CAPABILITY,
    analyse: (args) => accessesOf(args, commandFor(args, packages)),
    async execute(args, { machine }) {
      const argv = commandFor(args, packages);
      const { environment, repair } = MANAGERS[args.manager];
      const { timeoutMs } = listedOf(args, packages);
      const outcome = await machine.run({ argv, asRoot: true, environment, timeoutMs });
      requireEnded(outcome, repair);
      return runResult(argv, outcome, { installed: outcome.exitCode === 0 });
    },
  };
}

function parametersOf(managers: readonly [SystemManager, ...SystemManager[]]) {
  return z
    .strictObject({
      manager: z.enum(managers, { error: ({ input }) => refused(input, managers) }),
      package: z.string().min(1).max(MAX_ID_LEN).meta({ description: "Its name, without a version." }),
      version: z
        .string()
        .min(1)
        .max(MAX_ID_LEN)
        .meta({ description: "The exact version: no range, no tag, no `latest`." }),
    })
    .superRefine(({ manager, package: name, version }, context) => {
      const { name: names, version: versions, exact } = MANAGERS[manager];
      const fail = (path: string, message: string) =>
        context.addIssue({ code: "custom", path: [path], message, params: { rule: "format" } });
      if (!names.test(name))
        fail("package", `must be the plain name of a package of ${manager}: no path, address, option or version`);
      if (!versions.test(version)) fail("version", `must be ${exact}`);
    });
}

function refused(input: unknown, managers: readonly string[]): string {
  const instead =
    typeof input === "string" && Object.hasOwn(PROJECT_MANAGERS, input) ? PROJECT_MANAGERS[input] : undefined;
  if (instead !== undefined)
    return `installs dependencies of a project, which the lock file names: use \`install_dependencies\` with the manager \`${instead}\``;
  return `must be one of ${managers.map((one) => `\`${one}\``).join(", ")}, which the operator lists`;
}

function listedOf({ manager }: Arguments, packages: SystemSettings["packages"]): ListedManager {
  // the schema admits only those that are listed
  return packages[manager] as ListedManager;
}

function commandFor(args: Arguments, packages: SystemSettings["packages"]): MachineCommand["argv"] {
  const listed = listedOf(args, packages);
  return [listed.program, ...MANAGERS[args.manager].arguments(args.package, args.version, listed)];
}

/** The name of the package goes to whoever keeps packages: that leaves the machine. */
function accessesOf({ manager, package: name, version }: Arguments, argv: MachineCommand["argv"]): readonly Access[] {
  return [
    { resource: { kind: "package", manager, name, version }, effect: "network" },
    { resource: commandOf(argv), effect: "system" },
  ];
}
