/** Says what a tool answered in meao's shape: `{success, output, error?}`. */
import type { JsonObject } from "../../base/json.ts";
import { commandText, plainText, type Success } from "./dialect.ts";

/** What meao's callers get of a call. Type alias, so that it is also plain JSON. */
export type MeaoResult = {
  readonly success: boolean;
  readonly output: string;
  /** What went wrong, such as `Exit code: 3`. */
  readonly error?: string;
};

/** The answer of a tool that has run. A command, a fetch or a plugin that failed says so itself. */
export function ranResult(outcome: Success): MeaoResult {
  const { success, output, error } = outcome.data;
  if (typeof success === "boolean" && typeof output === "string")
    return { success, output, ...(typeof error === "string" && { error }) };
  if (isCommand(outcome.data)) return commandResult(outcome.data);
  if (success === false) return { success, output: plainText(outcome), error: String(error ?? "") };
  return { success: true, output: plainText(outcome) };
}

function isCommand(data: JsonObject): boolean {
  return typeof data["stdout"] === "string" && typeof data["stderr"] === "string";
}

function commandResult(data: JsonObject): MeaoResult {
  const { exit_code: code, ended_by: endedBy } = data;
  const output = commandText(data);
  if (code === 0) return { success: true, output };
  return {
    success: false,
    output,
    error: code === undefined ? `Ended by: ${String(endedBy)}` : `Exit code: ${String(code)}`,
  };
}
