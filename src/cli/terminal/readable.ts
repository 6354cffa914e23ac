/**
 * Renders the result of a call for a person: text as text, everything else as YAML.
 *
 * What a tool found goes to standard output, what a person should know about it to standard error.
 */
import type { JsonObject } from "../../base/json.ts";
import type { ToolResult, ToolResultError } from "../../model/tool/tool-result.ts";
import { print, say, visible } from "./output.ts";

/** Members that are the text which a call was made for; the others say something about it. */
const TEXTS = ["content", "stdout", "diff", "output"] as const;
/** What a command wrote beside its output. */
const BESIDE = "stderr";

/** Prints what came of a call. */
export async function printResult(tool: string, result: ToolResult): Promise<void> {
  if (result.status === "error") return sayError(tool, result.error);
  const { data, metadata } = result;
  const text = TEXTS.find((name) => typeof data[name] === "string");
  if (text === undefined || data["encoding"] === "base64") print(await asYaml(data));
  else printTexts(data, text);
  if (metadata.truncated === true)
    say("handrail: not all of it is shown; the result with --json says how to get the rest");
}

function printTexts(data: JsonObject, text: (typeof TEXTS)[number]): void {
  for (const [name, write] of [
    [text, print],
    [BESIDE, say],
  ] as const) {
    const written = data[name];
    if (typeof written === "string" && written !== "") write(written.replace(/\n$/, ""));
  }
  const { exit_code: code, ended_by: end } = data;
  if (typeof code === "number" && code !== 0) say(`handrail: the command ended with ${code}`);
  if (typeof end === "string") say(`handrail: the command was ended: ${visible(end)}`);
}

async function asYaml(data: JsonObject): Promise<string> {
  const { stringify } = await import("yaml");
  return Object.keys(data).length === 0 ? "done" : stringify(data, { lineWidth: 0 }).trimEnd();
}

function sayError(
  tool: string,
  { code, message, suggestion, layer, rule_id, violations, approval_ref }: ToolResultError,
): void {
  const by = layer === undefined ? "failed" : `denied by ${rule_id} (${layer})`;
  say(`handrail: ${visible(tool)} ${by}: ${code}: ${visible(message)}`);
  for (const { field, message: problem } of violations ?? [])
    say(visible(`  ${field === "" ? "" : `${field}: `}${problem}`));
  if (suggestion !== "" && suggestion !== message) say(visible(`  what to do: ${suggestion}`));
  if (approval_ref !== undefined) say(visible(`  to approve it: handrail approve ${approval_ref}`));
}
