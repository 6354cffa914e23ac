/**
 * Loads the operator's WebAssembly components: each file of `components/` is one tool.
 *
 * They come from the operator's directory alone, whose files nobody else can write. What a component says of itself is
 * a stranger's text, and is checked. INVARIANT: a component that is refused is no tool, and the operator is told why.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { configInvalid } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { COMPONENT_NAME, type ComponentSettings, PLAIN_COMPONENT } from "../../config/sections/tools/added-tools.ts";
import { compileInputSchema, TOOL_NAME } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { Component } from "../../sandbox/wasm/component.ts";
import { BUILT_IN_TOOLS } from "../operator/built-in-tools.ts";
import { type OperatorDirectory, requireOwnerOnly } from "../operator/operator-directory.ts";
import type { PluggedTools } from "../plugins/plugged-tools.ts";

/** Components of one kernel. */
const COMPONENTS_MAX = 64;
const COMPONENT_BYTES_MAX = 33_554_432;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const SCHEMA_CHARACTERS_MAX = 65_536;
/** Characters that people do not see, but models read; a line's end is seen. */
const INVISIBLE = /[^\P{C}\n]/u;

/** Tools of the components in the operator's directory, in the order of file names. */
export async function loadComponents(
  { path, settings }: Pick<OperatorDirectory, "path" | "settings">,
  tell: (message: string) => void,
): Promise<PluggedTools> {
  const directory = join(path, "components");
  requireOwnerOnly(directory);
  const names = readdirSync(directory).filter((name) => name.endsWith(".wasm"));
  if (names.length > COMPONENTS_MAX)
    throw configInvalid(`\`${directory}\` holds more than ${COMPONENTS_MAX} components; remove some`);
  const tools = new Map<string, Tool>();
  const loaded: Loaded[] = [];
  for (const file of names.sort()) {
    try {
      const one = await loadComponent(join(directory, file), settings.components[file.slice(0, -".wasm".length)]);
      const { name } = one.tool;
      if (tools.has(name)) throw configInvalid(`another component is called \`${name}\`; remove one`);
      tools.set(name, one.tool);
      loaded.push({ ...one, file });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      tell(`component \`${file}\` is refused and is no tool: ${problem}`);
    }
  }
  return {
    tools: [...tools.values()],
    modules: loaded.map(({ file, digest, tool }) => ({
      module: `components/${file}`,
      digest,
      inProcess: false,
      tools: [tool.name],
    })),
    close() {
      for (const { component } of loaded) void component.close();
    },
  };
}

/** A component that is a tool now. */
interface Loaded {
  readonly file: string;
  readonly tool: Tool;
  readonly component: Component;
  /** BLAKE3-256 of its file, hexadecimal. */
  readonly digest: string;
}

async function loadComponent(
  path: string,
  settings: ComponentSettings = PLAIN_COMPONENT,
): Promise<Omit<Loaded, "file">> {
  const stem = path.slice(path.lastIndexOf("/") + 1, -".wasm".length);
  if (!COMPONENT_NAME.test(stem)) throw configInvalid(`its file's name must match ${COMPONENT_NAME.source}`);
  const bytes = readComponent(path);
  const digest = `blake3:${blake3Hex(bytes)}`;
  if (settings.digest !== undefined && settings.digest !== digest)
    throw configInvalid(`it is ${digest}, not the pinned ${settings.digest}; correct \`digest\` or put the file back`);
  const limits = {
    timeMs: settings.time_ms,
    memoryBytes: settings.memory_bytes,
    outputBytes: settings.output_bytes,
  };
  const { Component: Opened } = await import("../../sandbox/wasm/component.ts");
  const pathArguments = settings.path_arguments;
  const component = await Opened.load(bytes, limits, pathArguments.length > 0);
  const { name, description, inputSchema } = component.described;
  if (!TOOL_NAME.test(name)) throw configInvalid(`its name must match ${TOOL_NAME.source}`);
  if (BUILT_IN_TOOLS.some((tool) => tool.name === name))
    throw configInvalid(`\`${name}\` is a tool of Handrail's own; give it another name`);
  if (description.length > DESCRIPTION_CHARACTERS_MAX || INVISIBLE.test(description))
    throw configInvalid(`its description must have at most ${DESCRIPTION_CHARACTERS_MAX} characters, all visible`);
  const schema = schemaOf(inputSchema);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const unknown = pathArguments.find((argument) => !Object.hasOwn(properties, argument));
  if (unknown !== undefined) throw configInvalid(`\`path_arguments\` names \`${unknown}\`, which it does not take`);
  const parameters = await parametersOf(schema, name);
  const { componentTool } = await import("../../tools/wasm/component-tool.ts");
  const tool = componentTool({ name, description, parameters, pathArguments, component });
  return { tool, component, digest: blake3Hex(bytes) };
}

/** The file itself: a link in the folder is refused, since its target could lie where others write. */
function readComponent(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    requireOwnerOnly(path);
    const status = fstatSync(file);
    if (!status.isFile() || status.size > COMPONENT_BYTES_MAX)
      throw configInvalid(`it must be a regular file of at most ${COMPONENT_BYTES_MAX} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function schemaOf(text: string): JsonObject {
  if (text.length > SCHEMA_CHARACTERS_MAX)
    throw configInvalid(`its schema must have at most ${SCHEMA_CHARACTERS_MAX} characters`);
  let schema: JsonValue;
  try {
    schema = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw configInvalid("its schema is not JSON", error);
  }
  if (!isJsonObject(schema) || schema["type"] !== "object" || schema["additionalProperties"] !== false)
    throw configInvalid("its schema must be an object with `type: object` and `additionalProperties: false`");
  return schema;
}

async function parametersOf(schema: JsonObject, name: string): Promise<z.ZodType<JsonObject>> {
  const constraint = await compileInputSchema(schema, `${name}: input schema`);
  return z
    .custom<JsonObject>()
    .superRefine((input, refinement) => {
      const problem = constraint.problemOf(input as JsonObject);
      if (problem !== undefined) refinement.addIssue({ code: "custom", message: problem.message });
    })
    .meta(schema);
}
