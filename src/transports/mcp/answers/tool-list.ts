/**
 * Describes the kernel's tools to clients as MCP's objects, made once, in one order.
 *
 * A client hands the whole list to its model with every conversation, so that nothing stands in it twice and nothing
 * that follows from the rest. What a tool answers is described where a client gets it structured.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { ToolDefinition } from "../../../kernel/index.ts";
import type { EffectClass } from "../../../model/outcome/effect.ts";
import { isStructured } from "./call-result.ts";

/** One tool as `tools/list` shows it, in every revision alike. */
export function describeTool(tool: ToolDefinition): JsonObject {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchema(tool.inputSchema),
    ...(isStructured(tool) && { outputSchema: { type: "object", ...tool.outputSchema } }),
    annotations: annotate(tool.effect),
  };
}

/** What a tool is not destructive or idempotent about is said of tools that change something alone (2025-11-25). */
function annotate(effect: EffectClass): JsonObject {
  return effect === "read"
    ? { readOnlyHint: true, openWorldHint: false }
    : { readOnlyHint: false, destructiveHint: effect !== "control", openWorldHint: effect === "network" };
}

/** The dialect is the one that MCP takes for granted. */
function inputSchema({ $schema: _, ...schema }: JsonObject): JsonObject {
  return withoutSafeBounds(schema) as JsonObject;
}

/** Bounds of the integers that JSON can carry say nothing of an argument. */
function withoutSafeBounds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutSafeBounds);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    ([name, bound]) =>
      !(name === "maximum" && bound === Number.MAX_SAFE_INTEGER) &&
      !(name === "minimum" && bound === Number.MIN_SAFE_INTEGER),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSafeBounds(member as JsonValue)]));
}
