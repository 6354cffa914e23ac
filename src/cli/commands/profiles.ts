/** `handrail modes` and `handrail skills`: what the operator has defined that sessions can be narrowed by. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { NO_GATES, type OperatorGates } from "../../model/people/gates.ts";
import type { KernelFlags } from "../start/kernel-options.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface ProfileFlags extends Pick<KernelFlags, "config"> {
  readonly json?: boolean;
}

/** A mode or a skill as it is shown. */
interface Shown {
  readonly name: string;
  readonly description: string;
  readonly tools: Readonly<Record<string, JsonObject>>;
}

/** Adds `handrail modes`. */
export function addModesCommand(program: Command): void {
  const description = "list and show modes, which leave sessions some of the tools";
  addProfileCommands(program, { noun: "mode", description, find: modesOf });
}

/** Adds `handrail skills`. */
export function addSkillsCommand(program: Command): void {
  const description = "list and show skills, which allow tools with inputs that satisfy a schema";
  addProfileCommands(program, { noun: "skill", description, find: skillsOf });
}

interface ProfileKind {
  readonly noun: "mode" | "skill";
  readonly description: string;
  readonly find: (gates: OperatorGates) => readonly Shown[];
}

function addProfileCommands(program: Command, { noun, description, find }: ProfileKind) {
  const group = program.command(`${noun}s`).description(description);
  const option = "operator directory (default: $HANDRAIL_CONFIG_HOME or $XDG_CONFIG_HOME/handrail)";
  group
    .command("list")
    .description(`list the ${noun}s that the operator has defined`)
    .option("--config <directory>", option)
    .option("--json", "print JSON")
    .action(async (flags: ProfileFlags) => {
      const all = find(await readGates(flags));
      if (flags.json) return printJson(all);
      const rows = all.map(({ name, description: text, tools }) => [
        name,
        String(Object.keys(tools).length),
        visible(text),
      ]);
      print(table([[noun.toUpperCase(), "TOOLS", "DESCRIPTION"], ...rows]));
    });
  group
    .command("show <name>")
    .description(`show what a ${noun} leaves`)
    .option("--config <directory>", option)
    .option("--json", "print JSON")
    .action(async (name: string, flags: ProfileFlags) => {
      const found = find(await readGates(flags)).find((one) => one.name === name);
      if (found === undefined)
        throw usageError(`there is no ${noun} \`${name}\`; \`handrail ${noun}s list\` shows them`);
      if (flags.json) return printJson(found);
      if (found.description !== "") print(visible(found.description));
      for (const [tool, left] of Object.entries(found.tools)) {
        print(visible(Object.keys(left).length === 0 ? tool : `${tool}  ${JSON.stringify(left)}`));
      }
    });
}

async function readGates(flags: ProfileFlags): Promise<OperatorGates> {
  const { operatorPath, readOperatorDirectory } = await import("../../server/operator/operator-directory.ts");
  const operator = await readOperatorDirectory(
    flags.config === undefined ? operatorPath(process.env) : resolve(flags.config),
  );
  return operator.narrowing?.gates ?? NO_GATES;
}

function modesOf({ modes }: OperatorGates): readonly Shown[] {
  return [...modes.values()].map(({ name, description, tools }) => ({
    name,
    description,
    tools: Object.fromEntries(
      [...tools].map(([tool, { paths, requiresApproval, requiresArming }]) => [
        tool,
        {
          ...(paths && { paths }),
          ...(requiresApproval && { requires_approval: true }),
          ...(requiresArming && { requires_arming: true }),
        },
      ]),
    ),
  }));
}

function skillsOf({ skills }: OperatorGates): readonly Shown[] {
  return [...skills.values()].map(({ name, description, tools }) => ({
    name,
    description,
    tools: Object.fromEntries(
      [...tools].map(([tool, constraint]) => [tool, constraint === undefined ? {} : { input: constraint.schema }]),
    ),
  }));
}
