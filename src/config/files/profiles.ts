/**
 * Modes and skills as the operator writes them, one file each, named after what it defines.
 *
 * Pure but for the compiler of JSON Schemas, which is passed in. Unknown keys are refused, because a misspelt
 * restriction is a missing one. INVARIANT: every list names what is allowed; nothing here can allow more than
 * everything else does.
 */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { GLOB_CHARACTERS_MAX, GLOB_LIST_CHARACTERS_MAX } from "../../base/limits.ts";
import {
  DEFAULT_MODE,
  type InputConstraint,
  type ModeProfile,
  PROFILE_NAME_PATTERN,
  type SkillManifest,
  type ToolNarrowing,
} from "../../model/people/gates.ts";
import { compileMeasuredGlob, type GlobTest } from "../../names/glob.ts";
import { CONFIG_LIST_ENTRIES_MAX } from "../sections/capabilities.ts";
import {
  description,
  GATE_TOOLS_MAX,
  type GateFile,
  gateProblem,
  inputSchema,
  parseGateFile,
  toolName,
  toolNames,
} from "./gate-file.ts";

/** Compiles a JSON Schema; `name` is where it stands, for messages. Rejects with CONFIG_INVALID. */
export type SchemaCompiler = (schema: JsonObject, name: string) => Promise<InputConstraint>;

const profileName = z.string().regex(PROFILE_NAME_PATTERN);

const narrowing = z.strictObject({
  paths: z.array(z.string().min(1).max(GLOB_CHARACTERS_MAX)).max(CONFIG_LIST_ENTRIES_MAX).optional(),
  requires_approval: z.boolean().default(false),
  requires_arming: z.boolean().default(false),
});

const mode = z.strictObject({
  name: profileName.optional(),
  description,
  /** What is still allowed. */
  tools: toolNames,
  /** What is left of some of them. */
  narrow: z.record(toolName, narrowing).default({}),
});

const skill = z.strictObject({
  name: profileName.optional(),
  description,
  tools: z
    .record(toolName, z.strictObject({ input: inputSchema.optional() }).nullable())
    .refine((tools) => Object.keys(tools).length <= GATE_TOOLS_MAX, `must name at most ${GATE_TOOLS_MAX} tools`),
});

/** Parses a mode. @throws KernelError CONFIG_INVALID naming every problem */
export async function parseMode(file: GateFile): Promise<ModeProfile> {
  const parsed = await parseGateFile(mode, file);
  const name = requireName(file, parsed.name);
  if (name === DEFAULT_MODE)
    throw gateProblem(file.name, `\`${DEFAULT_MODE}\` is the mode that narrows nothing; choose another name`);
  const stray = Object.keys(parsed.narrow).find((tool) => !parsed.tools.includes(tool));
  if (stray !== undefined)
    throw gateProblem(file.name, `narrow.${stray}: the tool is not in \`tools\`; list it there or remove it`);
  const tools = parsed.tools.map((tool) => [tool, narrowingOf(file, tool, parsed.narrow[tool])] as const);
  return { name, description: parsed.description, tools: new Map(tools) };
}

/** Parses a skill. @throws KernelError CONFIG_INVALID naming every problem */
export async function parseSkill(file: GateFile, compile: SchemaCompiler): Promise<SkillManifest> {
  const parsed = await parseGateFile(skill, file);
  const name = requireName(file, parsed.name);
  const tools = new Map<string, InputConstraint | undefined>();
  for (const [tool, entry] of Object.entries(parsed.tools)) {
    tools.set(
      tool,
      entry?.input === undefined ? undefined : await compile(entry.input, `${file.name}\`: \`tools.${tool}.input`),
    );
  }
  return { name, description: parsed.description, tools };
}

/** A file that says another name than its own would be looked for in vain. */
function requireName({ name: file }: GateFile, stated: string | undefined): string {
  const name = file.replace(/^.*\//, "").replace(/\.(?:ya?ml|json)$/, "");
  if (!PROFILE_NAME_PATTERN.test(name))
    throw gateProblem(file, `the file's name must match ${PROFILE_NAME_PATTERN.source}; rename it`);
  if (stated !== undefined && stated !== name)
    throw gateProblem(file, `name: is \`${stated}\`, but the file defines \`${name}\`; make them equal`);
  return name;
}

const NOTHING_MORE: ToolNarrowing = { allowsPath: () => true, requiresApproval: false, requiresArming: false };

function narrowingOf(file: GateFile, tool: string, wanted: z.output<typeof narrowing> | undefined): ToolNarrowing {
  if (wanted === undefined) return NOTHING_MORE;
  const { paths, requires_approval: requiresApproval, requires_arming: requiresArming } = wanted;
  if (paths === undefined) return { ...NOTHING_MORE, requiresApproval, requiresArming };
  const tests: GlobTest[] = [];
  let characters = 0;
  for (const [index, pattern] of paths.entries()) {
    const glob = compileMeasuredGlob(pattern, { ignoreCase: false });
    if (glob === undefined)
      throw gateProblem(file.name, `narrow.${tool}.paths.${index}: the pattern cannot be used; balance its brackets`);
    characters += glob.characters;
    tests.push(glob.test);
  }
  if (characters > GLOB_LIST_CHARACTERS_MAX)
    throw gateProblem(file.name, `narrow.${tool}.paths: the patterns are too long together`);
  return { paths, allowsPath: (path) => tests.some((test) => test(path)), requiresApproval, requiresArming };
}
