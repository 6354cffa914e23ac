/** Reads the operator's tool specs and tool policy as documents that an export can hold. */

import { usageError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import { readOperatorDirectory } from "../operator/operator-directory.ts";
import { TOOL_POLICY_FILE } from "../operator/operator-gates.ts";
import type { Naming } from "./artifact-layout.ts";

/** Where they lie in an export. */
export const TOOLS_FOLDER = "tools";

/** The identifier of a file of that name. */
export function toolSchemaOf(name: string, naming: Naming): string {
  return `${naming}.${name === TOOL_POLICY_FILE ? "tool_policy" : "tool_spec"}.v1`;
}

/** A spec or the policy, under the name of its file. */
export interface ToolDocument {
  readonly name: string;
  readonly value: JsonObject;
}

/**
 * The specs and the policy that are in force.
 * @throws KernelError CONFIG_INVALID, or USAGE where one of them is not valid
 */
export async function toolDocuments(directory: string, naming: Naming): Promise<readonly ToolDocument[]> {
  const { narrowing } = await readOperatorDirectory(directory);
  if (narrowing === undefined) return [];
  const { rules } = narrowing.gates;
  if (!rules.ok) throw usageError(`the operator's tool specs are not valid: ${rules.problem}; correct them first`);
  return narrowing.files.flatMap(({ name: path, text }) => {
    if (path !== TOOL_POLICY_FILE && !path.startsWith(`${TOOLS_FOLDER}/`)) return []; // modes and skills
    const json = parseJson(text);
    if (!json.ok || !isJsonObject(json.value)) throw usageError(`\`${path}\` is no JSON object; correct it first`);
    const name = path.replace(`${TOOLS_FOLDER}/`, "");
    return [{ name, value: { ...json.value, schema: toolSchemaOf(name, naming) } }];
  });
}
