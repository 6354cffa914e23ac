/**
 * Brio's dialect: tools whose arguments are all text, answered as text.
 *
 * Brio names files from the workspace's root alone, searches for plain text, and lets no command name a directory
 * above. What commands may be is policy's to say: the preset `brio` has Brio's lists.
 */
import * as z from "zod";
import { MIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { INLINE_RESULT_BYTES_MAX } from "../../base/limits.ts";
import { hasMoreBytes, hasMoreCharacters } from "../../model/outcome/constraints.ts";
import {
  type AnsweredCall,
  commandText,
  type Dialect,
  type DialectTool,
  dialectTool,
  plainText,
  type Spoken,
} from "./dialect.ts";

/** Bytes of a file that is written (Brio: 10 MB); one answer carries INLINE_RESULT_BYTES_MAX. */
export const BRIO_FILE_BYTES_MAX = 10 * MIB;
/** Characters that are searched for. */
export const BRIO_PATTERN_CHARACTERS_MAX = 1000;

const ABSOLUTE = /^(?:[/\\]|[a-zA-Z]:|file:)/;
const ABOVE = /(?:^|[/\\])\.\.(?:[/\\]|$)/;
/** A step above, wherever it stands in a command, in quotes or not. */
const STEP_ABOVE = /\.\.[/\\]/;

const path = z
  .string()
  .min(1, "must not be empty; name a file from the workspace's root")
  .refine((value) => !ABSOLUTE.test(value), "absolute paths are refused; name it from the workspace's root")
  .refine((value) => !ABOVE.test(value), "`..` is refused; name it from the workspace's root")
  .meta({ description: "From the workspace's root, without `..`." });

const content = z
  .string()
  .refine((value) => !hasMoreBytes(value, BRIO_FILE_BYTES_MAX), `is longer than ${BRIO_FILE_BYTES_MAX} bytes`);

const command = z
  .string()
  .min(1)
  .refine((value) => !STEP_ABOVE.test(value), "`../` and `..\\` are refused in commands, in quotes too");

const pattern = z
  .string()
  .min(1)
  .refine(
    (value) => !hasMoreCharacters(value, BRIO_PATTERN_CHARACTERS_MAX),
    `is longer than ${BRIO_PATTERN_CHARACTERS_MAX} characters`,
  )
  .meta({ description: "Plain text, no pattern." });

const TOOLS: readonly DialectTool[] = [
  dialectTool({
    name: "done",
    description: "Mark the task as completed, with a summary.",
    parameters: z.strictObject({ summary: z.string().default("") }),
    tool: "done",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "read_file",
    description: "Read a file.",
    parameters: z.strictObject({ path }),
    tool: "read_file",
    toArguments: ({ path: file }) => ({ path: file, max_bytes: INLINE_RESULT_BYTES_MAX }),
  }),
  dialectTool({
    name: "write_file",
    description: "Write a file, whole.",
    parameters: z.strictObject({ path, content }),
    tool: "write_file",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "ls",
    description: "List a directory.",
    parameters: z.strictObject({ path: path.default(".") }),
    tool: "list_files",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "shell",
    description: "Execute a shell command.",
    parameters: z.strictObject({ command }),
    tool: "shell",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "grep",
    description: "Find the lines that hold a text, in a file or below a directory.",
    parameters: z.strictObject({ pattern, path: path.default(".") }),
    tool: "search_file",
    toArguments: ({ pattern: text, path: place }) => ({ path: place, regex: text, literal: true }),
  }),
  dialectTool({
    name: "create_branch",
    description: "Create a branch of the workspace.",
    parameters: z.strictObject({ name: z.string().min(1) }),
    tool: "create_branch",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "list_branches",
    description: "List the branches of the workspace.",
    parameters: z.strictObject({}),
    tool: "list_branches",
    toArguments: () => ({}),
  }),
  dialectTool({
    name: "create_task",
    description: "Leave a task for another agent.",
    parameters: z.strictObject({ title: z.string().min(1), description: z.string().optional() }),
    tool: "create_task",
    toArguments: ({ title, description }) => ({ title, ...(description !== undefined && { description }) }),
  }),
];

/** The dialect. */
export const brio: Dialect = {
  name: "brio",
  tools: TOOLS,
  answer({ tool, response: { outcome } }: AnsweredCall): Spoken {
    if (outcome.kind === "denied") return { text: outcome.denial.message };
    if (outcome.kind === "error") return { text: `${outcome.message}; ${outcome.suggestion}` };
    const text = TEXTS[tool]?.(outcome.data) ?? plainText(outcome);
    return { text, data: { output: text } };
  },
};

/** How results read that are no content. */
const TEXTS: Readonly<Record<string, (data: JsonObject) => string>> = {
  done: ({ summary }) => String(summary),
  write_file: ({ path: file, size_bytes: bytes }) => `wrote ${String(bytes)} bytes to ${String(file)}`,
  list_files: ({ entries }) =>
    objectsIn(entries)
      .map(({ path: name, kind }) => `${String(name)}${kind === "directory" ? "/" : ""}`)
      .join("\n"),
  search_file: ({ results }) =>
    objectsIn(results)
      .map(({ path: file, line, text }) => `${String(file)}:${String(line)}:${String(text)}`)
      .join("\n"),
  shell: (data) => {
    const { exit_code: code } = data;
    return `${commandText(data)}${code === 0 ? "" : `\nExit code: ${String(code ?? data["ended_by"])}`}`;
  },
  create_branch: ({ name }) => `created the branch ${String(name)}`,
  list_branches: ({ branches }) =>
    objectsIn(branches)
      .map(({ name }) => String(name))
      .join("\n"),
  create_task: ({ path: file }) => `created ${String(file)}`,
};

function objectsIn(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
