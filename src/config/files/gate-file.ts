/** Checks the files of modes, skills, tool specs and tool policies, and names their problems. */
import * as z from "zod";
import { FileError, fileInvalid } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import { GATE_FILE_BYTES_MAX, MAX_PATH_LEN } from "../../base/limits.ts";
import { nearestName } from "../../text/near-miss.ts";
import { parseYaml, shortened } from "./yaml.ts";

/** Tools that one gate file may name. */
export const GATE_TOOLS_MAX = 512;
/** Problems of a configuration file that one message names; the rest are counted. */
const CONFIG_PROBLEMS_LISTED_MAX = 16;

/** A file of the operator's directory. */
export interface GateFile {
  /** As `modes/review.yaml`. */
  readonly name: string;
  readonly text: string;
}

/** The name of a tool, also of one that is not registered here. */
export const toolName = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,127}$/, "must be the name of a tool");
/** Names of tools. */
export const toolNames = z.array(toolName).max(GATE_TOOLS_MAX);
/** What a file says it is for. */
export const description = z.string().max(MAX_PATH_LEN).default("");
/** A JSON Schema, whose content is judged when it is compiled. */
export const inputSchema = z.custom<JsonObject>((value) => isJsonObject(value), "must be a JSON Schema object");

/** Parses YAML or JSON, by the file's ending. @throws KernelError CONFIG_INVALID */
export async function parseGateFile<T extends z.ZodType>(schema: T, { name, text }: GateFile): Promise<z.output<T>> {
  return acceptGate(
    schema,
    name.endsWith(".json") ? jsonOf(text, name) : await parseYaml(text, name, GATE_FILE_BYTES_MAX),
    name,
  );
}

/**
 * The value as the schema has it. @throws KernelError CONFIG_INVALID naming every problem with its place in the file
 */
export function acceptGate<T extends z.ZodType>(schema: T, value: unknown, name: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const all = parsed.error.issues.flatMap((issue) => problemsOf(issue, schema));
  const problems = all
    .slice(0, CONFIG_PROBLEMS_LISTED_MAX)
    .map(({ at, message }) => ({ file: name, message: shortened(message), at: at.map(plainKey) }));
  const more = all.length - problems.length;
  const said = problems.map(({ message }) => message).join("; ");
  throw new FileError(`\`${name}\`: ${said}${more > 0 ? `; and ${more} more` : ""}`, problems);
}

/** A key that nobody knows is a problem of its own, and was probably meant to be another. */
function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType) {
  const place = issue.path.join(".") || "file";
  if (issue.code !== "unrecognized_keys") return [{ at: issue.path, message: `${place}: ${wordsOf(issue)}` }];
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const meant = nearestName(key, known);
    const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
    return { at: [...issue.path, key], message: `${place}: unrecognized key: "${key}"${hint}` };
  });
}

/** What this project says of a mistake stands as it is written: it may repeat names. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_key") return issue.issues.map(wordsOf).join("; ");
  return issue.code === "custom" ? issue.message : issue.message.toLowerCase();
}

/** The keys of the object to which a path leads; none where no single object is certain. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of path) at = memberOf(bare(at), part);
  const end = bare(at);
  return end instanceof z.ZodObject ? Object.keys(end.shape) : [];
}

function memberOf(schema: z.core.$ZodType | undefined, part: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return schema instanceof z.ZodObject ? schema.shape[String(part)] : undefined;
}

/** What is inside of defaults, options and transformations. */
function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner !== undefined) {
    if (inner instanceof z.ZodPipe) inner = inner.in;
    else if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
    else if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) inner = inner.unwrap();
    else return inner;
  }
  return inner;
}

function plainKey(key: PropertyKey): string | number {
  return typeof key === "symbol" ? String(key) : key;
}

/** JSON of a file. @throws KernelError CONFIG_INVALID */
export function jsonOf(text: string, name: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw gateProblem(name, `not valid JSON: ${shortened(parsed.problem)}`);
}

/** A problem of one file. */
export function gateProblem(name: string, problem: string): FileError {
  return fileInvalid(name, [problem]);
}
