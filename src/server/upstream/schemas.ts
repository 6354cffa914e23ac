/** Makes schemas of what upstream servers say of their tools: only what is enforced counts. */
import type { ZodType } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { compileInputSchema } from "../../kernel/index.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { UpstreamAnswer } from "../../tools/upstream/upstream-tool.ts";
import { schemaInput } from "../plugins/schema-input.ts";
import type { OfferedTool } from "./records/pins.ts";

/**
 * Keywords that say something of a value and enforce nothing (JSON Schema 2020-12, 7.2 and 9). What older drafts mean
 * otherwise is no schema, or a keyword that is refused, so that which draft is named makes no difference.
 */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  "$schema format contentEncoding contentMediaType deprecated readOnly writeOnly".split(" "),
);

/** @throws KernelError CONFIG_INVALID where the schema cannot be enforced */
export async function parametersOf(tool: OfferedTool, name: string): Promise<ZodType<JsonObject>> {
  const schema = { ...enforced(tool.inputSchema, false), type: "object", additionalProperties: false };
  return await schemaInput(schema, name);
}

/**
 * What refuses answers that are not what the approved tool answers; the schema is compiled with the first.
 * @throws ToolFailure from what is returned
 */
export function fitting(tool: OfferedTool, name: string): (answer: UpstreamAnswer) => Promise<void> {
  const { outputSchema } = tool;
  if (outputSchema === undefined) return async () => undefined;
  let compiled: ReturnType<typeof compileInputSchema> | undefined;
  return async ({ structured, isError }) => {
    if (isError && structured === undefined) return;
    compiled ??= compileInputSchema(enforced(outputSchema, false), `${name}: output schema`);
    const constraint = await compiled;
    const problem = structured === undefined ? { message: "it gave no data" } : constraint.problemOf(structured);
    if (problem === undefined) return;
    throw new ToolFailure(
      "NOT_SUPPORTED",
      `\`${name}\` answered what its schema does not allow: ${problem.message.slice(0, 300)}`,
      "do without it; the server does not keep to what was approved",
    );
  };
}

/** The schema without annotations; members of `properties` are names, not keywords. */
function enforced(schema: JsonObject, areNames: boolean): JsonObject {
  const entries = Object.entries(schema).filter(([key]) => areNames || !ANNOTATIONS.has(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, enforcedValue(value, !areNames && NAMES.has(key))]));
}

const NAMES: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);

function enforcedValue(value: JsonValue | undefined, areNames: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one) => enforcedValue(one, false));
  return isJsonObject(value) ? enforced(value, areNames) : (value ?? null);
}
