/**
 * Reads the arguments of a call from words: `key=value`, `key:=JSON`, `key=@FILE`, `key:=@FILE`.
 *
 * The tool's input schema says what a value becomes: text, a number, true or false, a member of a list. A word that
 * fits no argument is refused here, with what fits; the kernel judges the whole as it judges every call.
 */
import { usageError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { nearestName } from "../../text/near-miss.ts";
import { parseJsonValue } from "../terminal/inputs.ts";
import { type ArgumentType, argumentTypes, typeName } from "./input-types.ts";

/** A tool as its callers know it. */
interface CalledTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

/** Reads the text of a file that an argument names; `-` is standard input. */
export type ReadArgumentFile = (path: string) => Promise<string>;

const WORD = /^([A-Za-z_][\w.-]*)(:?=)([\s\S]*)$/;

/** Whether a word is meant as an argument of a call. */
export function isArgumentWord(word: string): boolean {
  return WORD.test(word);
}

/** `base` with what `words` add. @throws KernelError USAGE for a word that does not fit */
export async function callArguments(
  words: readonly string[],
  {
    tool,
    base,
    readFile,
  }: { readonly tool: CalledTool; readonly base: JsonObject; readonly readFile: ReadArgumentFile },
): Promise<JsonObject> {
  const types = argumentTypes(tool.inputSchema);
  const read = new Map<string, JsonValue>();
  for (const word of words) {
    const { name, isJson, text } = splitWord(word, tool.name, types);
    const type = types.get(name);
    if (type === undefined) throw unknownArgument(name, tool.name, types);
    if (name in base) throw usageError(`\`${name}\` is given in --json as well; give it once`);
    const content = text.startsWith("@") ? await readFile(text.slice(1)) : text;
    const earlier = read.get(name);
    const value = isJson ? parseJsonValue(content, `\`${name}\``) : typedValue(name, content, type);
    if (earlier === undefined) read.set(name, value);
    else if (!isJson && Array.isArray(earlier) && Array.isArray(value)) read.set(name, [...earlier, ...value]);
    else throw usageError(`\`${name}\` is given twice, and it is no list; give it once`);
  }
  return { ...base, ...Object.fromEntries(read) };
}

function splitWord(word: string, tool: string, types: ReadonlyMap<string, ArgumentType>) {
  const [, name, operator, text] = WORD.exec(word) ?? [];
  if (name !== undefined && text !== undefined) return { name, text, isJson: operator === ":=" };
  const required = [...types].filter(([, { isRequired }]) => isRequired).map(([key]) => key);
  const [first = [...types.keys()][0] ?? "name"] = required;
  throw usageError(
    `\`${word}\` is no argument of \`${tool}\`; write \`KEY=VALUE\`${types.size === 0 ? "" : `, such as \`${first}=${word}\``} (\`handrail tools ${tool}\` lists them)`,
  );
}

function unknownArgument(name: string, tool: string, types: ReadonlyMap<string, ArgumentType>) {
  const meant = nearestName(name, types.keys());
  const known = types.size === 0 ? "it takes none" : `it takes ${[...types.keys()].join(", ")}`;
  return usageError(
    `\`${tool}\` has no argument \`${name}\`; ${meant === undefined ? known : `did you mean \`${meant}\`?`} (\`handrail tools ${tool}\` lists them)`,
  );
}

/** What the text is as an argument of that type. */
function typedValue(name: string, text: string, type: ArgumentType): JsonValue {
  const { types, values, items } = type;
  const misfit = (hint = "") =>
    usageError(`\`${name}\` takes ${typeName(type)}, not \`${text.slice(0, SHOWN_CHARACTERS)}\`${hint}`);
  if (values !== undefined) {
    const value = values.find((one) => String(one) === text);
    if (value !== undefined) return value;
    const meant = nearestName(text, values.map(String));
    throw misfit(meant === undefined ? "" : `; did you mean \`${meant}\`?`);
  }
  if (types.has("boolean") && /^(?:true|false)$/.test(text)) return text === "true";
  if ((types.has("integer") || types.has("number")) && isNumber(text, types)) return Number(text);
  if (types.has("null") && text === "null" && !types.has("string")) return null;
  if (types.has("string")) return text;
  if (types.has("array") && items !== undefined) return [typedValue(name, text, items)];
  if (types.size === 0 || types.has("object") || types.has("array"))
    throw misfit(`; write \`${name}:=JSON\` or \`${name}:=@FILE\``);
  throw misfit();
}

/** Characters of a value that does not fit which are shown. */
const SHOWN_CHARACTERS = 60;

function isNumber(text: string, types: ReadonlySet<string>): boolean {
  const value = Number(text);
  if (!/^-?\d/.test(text) || !Number.isFinite(value)) return false;
  return types.has("number") || Number.isSafeInteger(value);
}
