/**
 * Finds the tool calls that a model's provider has answered with, in the shapes that are common.
 *
 * Calls are looked for where a provider puts them, and nowhere else: what stands in a text or in the arguments of a
 * call is data. They are proposals; nothing here decides about them. Pure and bounded.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { parseJson } from "../base/json-parse.ts";

/** Bytes of one document. */
export const PROVIDER_OUTPUT_BYTES_MAX = 10 * 1024 * 1024;
/** Calls of one document. */
export const PROVIDER_CALLS_MAX = 1000;
/** Characters of the name of a tool, and of the id that the provider gave a call. */
const NAME_CHARACTERS_MAX = 256;

/** A call as it was proposed. */
export interface ProposedCall {
  /** Where it stands, as `choices[0].message.tool_calls[2]`. */
  readonly at: string;
  /** The provider's own id of it. */
  readonly id?: string;
  readonly tool: string;
  readonly input:
    | { readonly kind: "given"; readonly arguments: JsonObject }
    /** As serverd names an input that lies in a file of its own. */
    | { readonly kind: "file"; readonly reference: string };
}

/** What should be a call and is none. */
export interface BrokenCall {
  readonly at: string;
  readonly id?: string;
  readonly reason: "tool_call_invalid" | "tool_input_invalid";
  /** What is wrong, and what to do; quotes nothing of it. */
  readonly problem: string;
}

/** What a document proposes, in its order; or why nothing of it can be read. */
export type ProviderOutput =
  | { readonly ok: true; readonly value: JsonObject; readonly calls: readonly (ProposedCall | BrokenCall)[] }
  | { readonly ok: false; readonly problem: string };

/** Reads the text of a document. */
export function readProviderOutput(text: string): ProviderOutput {
  const json = parseJson(text);
  if (!json.ok) return { ok: false, problem: `it cannot be read: ${json.problem}` };
  if (!isJsonObject(json.value)) return { ok: false, problem: "it is no JSON object" };
  const found = listsIn(json.value);
  if (typeof found === "string") return { ok: false, problem: found };
  const [list, ...others] = found;
  if (list === undefined) return { ok: true, value: json.value, calls: [] };
  if (others.length > 0)
    return { ok: false, problem: `it has tool calls in two places, \`${list.at}\` and \`${others[0]?.at}\`` };
  if (list.items.length > PROVIDER_CALLS_MAX)
    return { ok: false, problem: `\`${list.at}\` has more than ${PROVIDER_CALLS_MAX} tool calls` };
  return { ok: true, value: json.value, calls: list.items.map(({ at, value }) => callOf(value, at)) };
}

/** What stands where calls are. */
interface CallList {
  readonly at: string;
  readonly items: readonly { readonly at: string; readonly value: JsonValue }[];
}

function listsIn(root: JsonObject): readonly CallList[] | string {
  const { choices, output, message, response } = root;
  if (Array.isArray(choices) && choices.length > 1)
    return `it has ${choices.length} choices, of which one is to be taken: leave the others out`;
  const [choice] = Array.isArray(choices) ? choices : [];
  const containers: readonly (readonly [at: string, value: JsonValue | undefined])[] = [
    ["", root],
    ["message.", message],
    ["output.", output],
    ["response.", response],
    ["choices[0].message.", isJsonObject(choice) ? choice["message"] : undefined],
  ];
  return containers.flatMap(([at, value]) => (isJsonObject(value) ? listsOf(value, at) : []));
}

/** The lists of calls in one message. */
function listsOf(message: JsonObject, at: string): readonly CallList[] {
  const { tool_call: single, tool_calls: several, content, output } = message;
  const lists: CallList[] = [];
  const add = (name: string, items: readonly JsonValue[], isCall: (item: JsonValue) => boolean): void => {
    const placed = items.map((value, index) => ({ at: `${at}${name}[${index}]`, value }));
    const calls = placed.filter(({ value }) => isCall(value));
    if (calls.length > 0) lists.push({ at: `${at}${name}`, items: calls });
  };
  if (single !== undefined && single !== null)
    lists.push({ at: `${at}tool_call`, items: [{ at: `${at}tool_call`, value: single }] });
  if (Array.isArray(several)) add("tool_calls", several, () => true);
  if (Array.isArray(content)) add("content", content, (item) => isJsonObject(item) && item["type"] === "tool_use");
  if (Array.isArray(output)) add("output", output, (item) => isJsonObject(item) && item["type"] === "function_call");
  return lists;
}

/** One call: of OpenAI, of Anthropic, or of serverd. */
function callOf(value: JsonValue, at: string): ProposedCall | BrokenCall {
  if (!isJsonObject(value)) return { at, reason: "tool_call_invalid", problem: "it is no object" };
  const named = isJsonObject(value["function"]) ? value["function"] : value;
  const given = firstOf(value, ["id", "call_id", "tool_call_id"]);
  const id = typeof given === "string" && given.length <= NAME_CHARACTERS_MAX ? { id: given } : {};
  const tool = firstOf(named, ["name", "tool", "tool_id"]);
  if (typeof tool !== "string" || tool === "" || tool.length > NAME_CHARACTERS_MAX)
    return { at, ...id, reason: "tool_call_invalid", problem: "it names no tool; give `name`, a text" };
  const reference = firstOf(named, ["input_ref", "tool_input_ref"]);
  const input = firstOf(named, ["arguments", "input"]);
  if (reference !== undefined && input !== undefined)
    return { at, ...id, reason: "tool_call_invalid", problem: "it has an input and names another one; leave one out" };
  if (typeof reference === "string") return { at, ...id, tool, input: { kind: "file", reference } };
  if (reference !== undefined)
    return { at, ...id, reason: "tool_call_invalid", problem: "the input that it names is no text" };
  const args = argumentsOf(input);
  if (typeof args === "string") return { at, ...id, reason: "tool_input_invalid", problem: args };
  return { at, ...id, tool, input: { kind: "given", arguments: args } };
}

/** Arguments as an object, or as a text of JSON; absent and empty ones are none. */
function argumentsOf(input: JsonValue | undefined): JsonObject | string {
  if (input === undefined || input === null || input === "") return {};
  if (isJsonObject(input)) return input;
  if (typeof input !== "string") return "its arguments are no object";
  const json = parseJson(input);
  if (!json.ok) return `its arguments cannot be read: ${json.problem}`;
  return isJsonObject(json.value) ? json.value : "its arguments are no object";
}

function firstOf(object: JsonObject, names: readonly string[]): JsonValue | undefined {
  for (const name of names) if (Object.hasOwn(object, name)) return object[name];
  return undefined;
}
