/**
 * Resolves `call_tool` to the call of the tool that it names, before anything is judged.
 *
 * INVARIANT: there is no second path: no stage ever sees `call_tool`.
 */
import { isJsonObject } from "../../base/json.ts";
import { allow, deny, type Verdict } from "../../model/outcome/decision.ts";
import type { ToolArguments, ToolCall } from "../../model/tool/call.ts";
import type { ToolDefinition } from "../declared/registry.ts";

/** What clients are told of it. */
export const CALL_TOOL: ToolDefinition = {
  name: "call_tool",
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

/** The call that is meant. */
export function namedCall(call: ToolCall): Verdict<ToolCall> {
  if (call.tool !== CALL_TOOL.name || call.variant !== "call") return allow(call);
  const { name, arguments: args = {}, ...more } = call.arguments;
  if (typeof name !== "string" || name === CALL_TOOL.name || !isJsonObject(args) || Object.keys(more).length > 0)
    return deny({
      layer: "call",
      reason: "tool_input_invalid",
      ruleId: "SCHEMA:call_tool",
      message: "`call_tool` takes the `name` of a tool and an object of its `arguments`; find names with `find_tools`",
    });
  return allow({ ...call, tool: name, arguments: args as ToolArguments });
}
