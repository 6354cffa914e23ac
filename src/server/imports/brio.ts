/** Imports Brio's TOML: agents become modes, and lists of programs policies that forbid. */
import { parse, TomlError } from "smol-toml";
import * as z from "zod";
import { fileInvalid } from "../../base/errors.ts";
import { PROFILE_NAME_PATTERN, SHIPPED_MODES } from "../../model/people/gates.ts";
import { allowOnly, forbidThese } from "./command-rules.ts";
import type { Imported, ImportedFile, LeftOut } from "./imported.ts";

const programs = z.array(z.string().max(200)).max(1000);
const shape = z.object({
  agents: z.record(z.string(), z.unknown()).default({}),
});
const toolsTable = z.object({
  enable_write: z.boolean().optional(),
  enable_shell: z.boolean().optional(),
  shell: z.object({ allowlist: programs.optional(), blocklist: programs.optional() }).loose().optional(),
});
const agentTable = z.object({
  enable_write: z.boolean().optional(),
  enable_shell: z.boolean().optional(),
  shell_allowlist: programs.optional(),
});

const TOOLS = "tools";
/** What an agent has that Brio's table does not name. */
const READING = ["done", "read_file", "list_files"];

/** What the TOML text of the file `name` becomes. @throws KernelError CONFIG_INVALID saying where it is wrong */
export function importBrio(text: string, name: string): Imported {
  const { agents } = checked(shape, tomlOf(text, name), name);
  const left: LeftOut[] = [];
  const general = checked(toolsTable, agents[TOOLS] ?? {}, name);
  left.push(...unknownKeys("agents.tools", agents[TOOLS], [...Object.keys(toolsTable.shape)]));
  left.push(...unknownKeys("agents.tools.shell", general.shell, ["allowlist", "blocklist"]));
  const policies: string[] = [];
  const add = ({ text: policy, left: missing }: { readonly text: string; readonly left: readonly LeftOut[] }) => {
    if (policy !== "") policies.push(policy);
    left.push(...missing);
  };
  const { allowlist, blocklist } = general.shell ?? {};
  if (allowlist !== undefined)
    add(allowOnly("imported.brio-allowlist", { where: "agents.tools.shell.allowlist", entries: allowlist }));
  if (blocklist !== undefined)
    add(forbidThese("imported.brio-blocklist", { where: "agents.tools.shell.blocklist", entries: blocklist }));
  const files: ImportedFile[] = [];
  for (const [agent, value] of Object.entries(agents)) {
    if (agent === TOOLS) continue;
    const where = `agents.${agent}`;
    if (!PROFILE_NAME_PATTERN.test(agent)) {
      left.push({ where, why: `its name is none of a mode (${PROFILE_NAME_PATTERN.source})` });
      continue;
    }
    const table = checked(agentTable, value, name);
    left.push(...unknownKeys(where, value, Object.keys(agentTable.shape)));
    const tools = toolsOf(agent, {
      write: table.enable_write ?? general.enable_write,
      shell: table.enable_shell ?? general.enable_shell,
    });
    files.push({ path: `modes/${agent}.yaml`, text: modeText(agent, tools) });
    if (table.shell_allowlist !== undefined)
      add(
        allowOnly(`imported.brio-${agent}`, {
          where: `${where}.shell_allowlist`,
          entries: table.shell_allowlist,
          mode: agent,
        }),
      );
  }
  if (general.enable_shell === true)
    left.push({
      where: "agents.tools.enable_shell",
      why: "what it allows is the preset's to say: `preset: brio` runs the usual programs, `dev` asks about others",
    });
  if (policies.length > 0)
    files.push({
      path: "policy/imported-brio.cedar",
      text: `// Imported from Brio's configuration.\n\n${policies.join("\n")}`,
    });
  return { files, left };
}

/** The tools of an agent by Brio's own table, without what is switched off. */
function toolsOf(
  agent: string,
  { write, shell }: { readonly write: boolean | undefined; readonly shell: boolean | undefined },
): readonly string[] {
  const table = [...(SHIPPED_MODES.get(agent)?.tools.keys() ?? READING)];
  const wanted = new Set(table);
  if (write === false) wanted.delete("write_file");
  if (write === true && !SHIPPED_MODES.has(agent)) wanted.add("write_file");
  if (shell === false) wanted.delete("shell");
  if (shell === true && (agent === "smart" || !SHIPPED_MODES.has(agent))) wanted.add("shell");
  return [...wanted].sort();
}

function modeText(agent: string, tools: readonly string[]): string {
  return `# Imported from Brio's configuration.\ndescription: Brio's agent ${agent}\ntools: [${tools.join(", ")}]\n`;
}

function tomlOf(text: string, name: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw fileInvalid(name, [`line ${error.line}, column ${error.column}: ${error.message.split("\n")[0]}`], error);
  }
}

function checked<Shape extends z.ZodType>(schema: Shape, value: unknown, name: string): z.output<Shape> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw fileInvalid(
    name,
    parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
  );
}

/** The keys of the table `where` that are not among `known`. */
function unknownKeys(where: string, value: unknown, known: readonly string[]): readonly LeftOut[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({ where: `${where}.${key}`, why: "is no key that Handrail knows" }));
}
