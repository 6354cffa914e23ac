/** Describes the kernel's tools to clients as MCP's objects, made once, in one order. */
import type { JsonObject } from "../../../base/json.ts";
import type { ToolDefinition } from "../../../kernel/index.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";

/** One tool as `tools/list` shows it, in every revision alike. */
export function describeTool(tool: ToolDefinition): JsonObject {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: resultSchema(tool.outputSchema),
    annotations: annotate(tool.title, tool.effect),
  };
}

function annotate(title: string, effect: EffectClass): JsonObject {
  const readOnly = effect === "read";
  return {
    title,
    readOnlyHint: readOnly,
    destructiveHint: !readOnly && effect !== "control",
    idempotentHint: readOnly,
    openWorldHint: effect === "network",
  };
}

/** JSON Schema of what stands for a result that is too large for an answer. */
const STORED: JsonObject = {
  type: "object",
  description:
    "In place of a result that is too large for an answer: where the whole of it is stored, and how it begins.",
  properties: {
    content_hash: { type: "string" },
    size: { type: "integer" },
    preview: { type: "string" },
    rest: { type: "object" },
  },
  required: ["content_hash", "size"],
  additionalProperties: false,
};

/** JSON Schema of the result document around a tool's own data. */
function resultSchema(data: JsonObject | undefined): JsonObject {
  return {
    type: "object",
    properties: {
      status: { type: "string", enum: ["success", "error"] },
      data: data === undefined ? { type: "object" } : { anyOf: [data, STORED] },
      error: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" }, suggestion: { type: "string" } },
        required: ["code", "message", "suggestion"],
      },
      metadata: { type: "object" },
    },
    required: ["status", "metadata"],
  };
}
