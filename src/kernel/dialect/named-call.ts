/**
 * Resolves `call_tool` to the call of the tool that it names, before anything is judged.
 *
 * INVARIANT: there is no second path: no stage ever sees `call_tool`.
 */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { allow, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { ToolArguments, ToolCall } from "../../model/tool/call.ts";
import { NAMES_A_TOOL, type ToolDefinition } from "../declared/registry.ts";

/** What clients are told of it. */
export const CALL_TOOL: ToolDefinition = {
  name: NAMES_A_TOOL,
  title: "Call a tool",
  description: "Calls a tool that find_tools found, with arguments that fit its schema.",
  effect: "exec",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" }, arguments: { type: "object" } },
    required: ["name"],
    additionalProperties: false,
  },
};

/** A call by its tool and arguments. */
export interface CalledTool {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The call that is meant. */
export function namedCall(call: ToolCall): Verdict<ToolCall> {
  if (call.variant !== "call") return allow(call);
  const named = namedTool({ tool: call.tool, args: call.arguments });
  if (!named.ok || named.value.tool === call.tool) return named.ok ? allow(call) : named;
  return allow({ ...call, tool: named.value.tool, arguments: named.value.args as ToolArguments });
}

/** The same for a call that is only explained. */
export function namedTool(called: CalledTool): Verdict<CalledTool> {
  if (called.tool !== CALL_TOOL.name) return allow(called);
  const { name, arguments: args = {}, ...more } = called.args as JsonObject;
  if (typeof name !== "string" || name === CALL_TOOL.name || !isJsonObject(args) || Object.keys(more).length > 0)
    return deny({
      layer: "call",
      reason: "tool_input_invalid",
      ruleId: "SCHEMA:call_tool",
      message: "`call_tool` takes the `name` of a tool and an object of its `arguments`; find names with `find_tools`",
    });
  return allow({ tool: name, args });
}
