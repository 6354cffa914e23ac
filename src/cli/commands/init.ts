/**
 * `handrail init`: make the operator's directory and the state directory, with a commented settings file. Never
 * overwrites.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { quoted } from "../../model/place/command.ts";
import { operatorPath } from "../../server/operator/operator-directory.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { ownName } from "../start/own-name.ts";
import { print, printJson } from "../terminal/output.ts";

const SETTINGS = `# Settings of Handrail. Every key is optional; unknown keys are refused. This directory belongs to the operator alone.

# Which shipped policies apply: reader, dev, autonomous, meao, brio or open.
# preset: dev

# tools:
#   enabled: true            # false (or TOOLS_ENABLE=0) closes the master gate
#   disabled: []             # tools switched off everywhere

# files:                     # patterns added to the built-in zones
#   secret: []               # refused to every tool, left out of listings
#   shared: []               # directories of the project that are read only
#   read_only: []
#   protected: []            # writing asks

# capabilities:              # what you say about single tools, instead of what they declare
#   write_file:
#     approval: ask          # auto, ask or always_deny

# alert:
#   violations_per_minute: 5
#   freeze: true

# sessions:
#   lifetime_seconds: 43200

# workspaces:                # grants for one workspace each
#   - path: /absolute/path
#     roles: [dev]           # roles that a client may ask for
#     preset: dev
`;

/** What is good to try first. A test runs each of them. */
const NEXT = [
  ["doctor", "what works on this machine"],
  ["tools", "what agents may call"],
  ["call list_files path=.", "make a call"],
] as const;

interface InitFlags {
  readonly state?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Adds `handrail init`. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("make the operator directory and the state directory; never overwrites")
    .option("--state <directory>", "state directory")
    .option("--config <directory>", "operator directory")
    .option("--json", "print JSON")
    .action((flags: InitFlags) => init(flags));
}

function init(flags: InitFlags): void {
  const config = flags.config === undefined ? operatorPath(process.env) : resolve(flags.config);
  const state = stateDirectoryOf(flags);
  const settings = join(config, "handrail.yaml");
  const made: string[] = [];
  for (const directory of [config, join(config, "policy"), state]) {
    if (existsSync(directory)) continue;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    made.push(directory);
  }
  if (!existsSync(settings)) {
    writeFileSync(settings, SETTINGS, { mode: 0o600, flag: "wx" });
    made.push(settings);
  }
  if (flags.json) {
    printJson({ config, state, settings, made });
    return;
  }
  print(made.length === 0 ? "everything is there already" : made.map((path) => `made ${path}`).join("\n"));
  const places = Object.entries({ state: flags.state, config: flags.config })
    .flatMap(([flag, path]) => (path === undefined ? [] : [` --${flag} ${quoted(resolve(path))}`]))
    .join("");
  const name = ownName(process.env);
  print("\nnext, from the directory of a project:");
  for (const [command, about] of NEXT) print(`  ${name} ${command}${places}   # ${about}`);
  print(`  ${name} mcp --workspace .${places}   # what an MCP client starts; it serves until the client is gone`);
}
