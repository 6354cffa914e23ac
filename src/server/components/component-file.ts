/**
 * Loads one WebAssembly component out of its file, and makes a tool of it.
 *
 * The file comes from the operator's directory alone, where nobody else can write. What a component says of itself is a
 * stranger's text, and is checked. INVARIANT: what is loaded is what the digest was made of.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configInvalid } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

import { COMPONENT_NAME, type ComponentSettings } from "../../config/sections/tools/added-tools.ts";

import { TOOL_NAME } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { Component } from "../../sandbox/wasm/component.ts";
import { requireOwnerOnly } from "../operator/operator-directory.ts";
import { schemaInput } from "../plugins/schema-input.ts";

const COMPONENT_BYTES_MAX = 33_554_432;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const SCHEMA_CHARACTERS_MAX = 65_536;
/** Characters that people do not see, but models read; a line's end is seen. */
const INVISIBLE = /[^\P{C}\n]/u;

/** A component that is a tool now. */
export interface LoadedComponent {
  readonly file: string;
  readonly settings: ComponentSettings;
  readonly tool: Tool;
  readonly component: Component;
  /** BLAKE3-256 of its file, hexadecimal. */
  readonly digest: string;
}

/** The bytes of a component's file, and their digest. */
export interface ComponentBytes {
  readonly bytes: Buffer;
  readonly digest: string;
}

/** How a component is loaded. */
export interface ComponentWish {
  readonly file: string;
  readonly settings: ComponentSettings;
  /** Whether another tool has that name. */
  readonly isTaken: (name: string) => boolean;
  /** The version whose place it takes: calls that began with that one end with it. */
  readonly replaces?: LoadedComponent | undefined;
}

/** @throws KernelError CONFIG_INVALID where it is no tool, saying why */
export async function loadComponent({ bytes, digest }: ComponentBytes, wish: ComponentWish): Promise<LoadedComponent> {
  const { file, settings } = wish;
  const stem = file.slice(0, -".wasm".length);
  if (!COMPONENT_NAME.test(stem)) throw configInvalid(`its file's name must match ${COMPONENT_NAME.source}`);
  requirePinned(settings, digest);
  const limits = {
    timeMs: settings.time_ms,
    memoryBytes: settings.memory_bytes,
    outputBytes: settings.output_bytes,
  };
  const { Component: Opened } = await import("../../sandbox/wasm/component.ts");
  const component = await Opened.load(bytes, limits, settings.path_arguments.length > 0);
  try {
    const tool = await toolOf(component, wish);
    return { file, settings, tool, component, digest };
  } catch (error) {
    component.retire();
    throw error;
  }
}

/** The tool that a component says it is. */
async function toolOf(component: Component, { settings, isTaken, replaces }: ComponentWish): Promise<Tool> {
  const { name, description, inputSchema } = component.described;
  const pathArguments = settings.path_arguments;
  if (!TOOL_NAME.test(name)) throw configInvalid(`its name must match ${TOOL_NAME.source}`);
  if (isTaken(name)) throw configInvalid(`another tool is called \`${name}\`; give it another name, or remove one`);
  if (description.length > DESCRIPTION_CHARACTERS_MAX || INVISIBLE.test(description))
    throw configInvalid(`its description must have at most ${DESCRIPTION_CHARACTERS_MAX} characters, all visible`);
  const schema = schemaOf(inputSchema);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const unknown = pathArguments.find((argument) => !Object.hasOwn(properties, argument));
  if (unknown !== undefined) throw configInvalid(`\`path_arguments\` names \`${unknown}\`, which it does not take`);
  const parameters = await schemaInput(schema, name);
  const { componentTool } = await import("../../tools/wasm/component-tool.ts");
  const isVersion = replaces?.tool.name === name && isGrantedTheSame(replaces.settings, settings);
  const lineage = (isVersion ? replaces.tool.lineage : undefined) ?? {};
  return componentTool({ name, description, parameters, pathArguments, component, lineage });
}

/** Whether both may use the same; which file is pinned grants nothing. */
export function isGrantedTheSame(left: ComponentSettings, right: ComponentSettings): boolean {
  const granted = ({ digest: _, ...rest }: ComponentSettings) => JSON.stringify(rest);
  return granted(left) === granted(right);
}

/** @throws KernelError CONFIG_INVALID where `digest` is not the pinned one */
export function requirePinned(settings: ComponentSettings, digest: string): void {
  if (settings.digest === undefined || settings.digest === `blake3:${digest}`) return;
  throw configInvalid(
    `it is blake3:${digest}, not the pinned ${settings.digest}; correct \`digest\` or put the file back`,
  );
}

/** Reads the file itself: a link in the folder is refused, since its target could lie where others write. */
export function readComponent(directory: string, name: string): ComponentBytes {
  const path = join(directory, name);
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    requireOwnerOnly(path, status);
    if (!status.isFile() || status.size > COMPONENT_BYTES_MAX)
      throw configInvalid(`it must be a regular file of at most ${COMPONENT_BYTES_MAX} bytes`);
    const bytes = readFileSync(file);
    return { bytes, digest: blake3Hex(bytes) };
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
