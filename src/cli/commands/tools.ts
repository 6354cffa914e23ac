/** `handrail tools`: which tools there are, what each takes, and what policy says of calling it. */
import type { Command } from "commander";
import type { JsonObject } from "../../base/json.ts";
import { type DialectName, dialectOf } from "../../model/people/dialect.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { exampleArguments } from "../start/example-arguments.ts";
import { argumentTypes, typeName } from "../start/input-types.ts";
import { type ServingFlags, UNUSUAL, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { type NamedTool, requireTool } from "../start/named-tool.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface ToolFlags extends ServingFlags, SessionFlags {
  readonly json?: boolean;
}

/** What policy says of the simplest call of a tool. */
interface Standing {
  /** `runs`, `asks`, `needs arming`, `refused`, or `depends` where the simplest call says nothing. */
  readonly says: "runs" | "asks" | "needs arming" | "refused" | "depends";
  readonly rules: readonly string[];
  /** The arguments of that call. */
  readonly example: JsonObject;
}

/** Adds `handrail tools`. */
export function addToolsCommand(program: Command): void {
  const made = program
    .command("tools [name]")
    .description("list the tools, or show what one does, what it takes, and what policy says of it");
  const command = withSessionOptions(made, { role: "role to judge for (default: dev)", preset: "preset to judge by" })
    .option(...UNUSUAL)
    .option("--json", "print JSON");
  withKernelOptions(command)
    .addHelpText(
      "after",
      `
What policy says is judged for the simplest call of the tool, and other arguments may be decided otherwise:
\`handrail policy explain TOOL key=value\` judges a call in full.

Examples:
  handrail tools
  handrail tools read_file
  handrail tools --preset reader --json`,
    )
    .action((name: string | undefined, flags: ToolFlags) =>
      withKernel(flags, (kernel) => (name === undefined ? listTools(kernel, flags) : showTool(kernel, name, flags))),
    );
}

async function listTools(kernel: OpenKernel, flags: ToolFlags): Promise<void> {
  if (flags.dialect !== undefined) return listSpoken(kernel, dialectOf(flags.dialect), flags);
  const judge = await judgeFor(kernel, flags);
  const rows: { readonly tool: NamedTool; readonly policy: Standing }[] = [];
  for (const tool of kernel.door.tools()) rows.push({ tool, policy: await judge(tool) });
  if (flags.json) return printJson(rows.map(plain));
  const cells = rows.map(({ tool, policy }) => [tool.name, tool.effect, policy.says, firstSentence(tool.description)]);
  print(table([["TOOL", "EFFECT", "POLICY", "DOES"], ...cells.map((row) => row.map(visible))]));
}

/** The tools of a dialect: what policy says is said of the kernel's own, by their names. */
async function listSpoken(kernel: OpenKernel, dialect: DialectName, { json }: ToolFlags): Promise<void> {
  const tools = await kernel.door.spokenTools(dialect);
  if (json)
    return printJson(
      tools.map(({ name, effect, description, inputSchema }) => ({ name, effect, description, input: inputSchema })),
    );
  const cells = tools.map(({ name, effect, description }) => [name, effect, firstSentence(description)]);
  print(table([["TOOL", "EFFECT", "DOES"], ...cells.map((row) => row.map(visible))]));
}

async function showTool(kernel: OpenKernel, name: string, flags: ToolFlags): Promise<void> {
  const tool = requireTool(kernel, name);
  const policy = await (await judgeFor(kernel, flags))(tool);
  if (flags.json) return printJson({ ...plain({ tool, policy }), input_schema: tool.inputSchema });
  print(visible(`${tool.name}: ${tool.title} (${tool.effect})`));
  print(`\n${visible(tool.description)}\n`);
  const rows = [...argumentTypes(tool.inputSchema)].map(([key, type]) => [
    `  ${key}`,
    type.isRequired ? "required" : "optional",
    typeName(type),
    type.description,
  ]);
  print(rows.length === 0 ? "it takes no arguments" : `arguments:\n${table(rows.map((row) => row.map(visible)))}`);
  const by = policy.rules.length === 0 ? "" : ` by ${policy.rules.join(", ")}`;
  print("");
  print(visible(`policy: ${policy.says}${by}, for ${JSON.stringify(policy.example)}`));
}

function plain({ tool, policy }: { readonly tool: NamedTool; readonly policy: Standing }): object {
  const { name, title, description, effect } = tool;
  return { name, title, description, effect, policy };
}

/** Judges tools for the session that the flags wish for; nothing is recorded. */
async function judgeFor(kernel: OpenKernel, flags: ToolFlags): Promise<(tool: NamedTool) => Promise<Standing>> {
  const who = await kernel.administration.imagineSession({
    ...wishOf(flags),
    userId: currentUser(),
    agentId: "tools",
  });
  return async ({ name, inputSchema }) => {
    const example = exampleArguments(inputSchema);
    const explanation = await kernel.door.explain({ who, tool: name, args: example });
    return { ...standingOf(explanation), example };
  };
}

function standingOf({
  denial,
  accesses,
  armed,
}: Awaited<ReturnType<OpenKernel["door"]["explain"]>>): Omit<Standing, "example"> {
  if (denial?.reason === "tool_input_invalid") return { says: "depends", rules: [] };
  if (denial !== undefined) return { says: "refused", rules: [denial.ruleId] };
  const rules = new Set<string>();
  const due = new Set<string>();
  for (const { policy } of accesses) {
    if (policy.verdict.decision === "deny") return { says: "refused", rules: policy.decidedBy };
    for (const rule of policy.decidedBy) rules.add(rule);
    for (const { obligation } of policy.verdict.obligations) due.add(obligation);
  }
  const says = due.has("ask") ? "asks" : due.has("arm") && !armed ? "needs arming" : "runs";
  return { says, rules: [...rules] };
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/[.:]$/, "") ?? text;
}
