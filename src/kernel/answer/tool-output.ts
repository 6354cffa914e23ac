/**
 * Checks that what a tool returned is an output at all.
 *
 * Tools may be anybody's code, and types are not checked at run time.
 */
import { isJsonObject } from "../../base/json.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import type { ToolOutput } from "../../model/tool/tool.ts";

/** Why the output is none, or `undefined` when it is one. */
export function invalidOutput(tool: string, output: ToolOutput): Denial | undefined {
  if (isOutput(output)) return undefined;
  return {
    layer: "call",
    reason: "tool_output_invalid",
    ruleId: `OUTPUT:${tool}`,
    message: `\`${tool}\` returned something that is no output of a tool, so nothing of it is shown; tell the tool's author`,
  };
}

function isOutput(output: unknown): boolean {
  if (typeof output !== "object" || output === null || !("kind" in output)) return false;
  if (output.kind === "data") return "data" in output && isJsonObject(output.data);
  if (output.kind === "bytes") return "bytes" in output && output.bytes instanceof Uint8Array;
  return (
    output.kind === "stream" &&
    "chunks" in output &&
    typeof Reflect.get(Object(output.chunks), Symbol.asyncIterator) === "function"
  );
}
