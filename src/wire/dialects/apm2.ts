/** APM2's dialect: the seven variants of the wire as tools, with the wire's own names of arguments. */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { type Dialect, type DialectTool, dialectTool } from "./dialect.ts";

const path = z.string();
const count = z.int().min(0);
const list = z.array(z.string());

const TOOLS: readonly DialectTool[] = [
  dialectTool({
    name: "file_read",
    description: "Reads a file. A `limit` of 0 reads to the end.",
    parameters: z.strictObject({ path, offset: count.default(0), limit: count.default(0) }),
    tool: "read_file",
    toArguments: ({ path: file, offset, limit }) => ({ path: file, offset, ...(limit !== 0 && { limit }) }),
  }),
  dialectTool({
    name: "file_write",
    description: "Writes a file, or appends to it.",
    parameters: z.strictObject({
      path,
      content: z.string(),
      create_only: z.boolean().default(false),
      append: z.boolean().default(false),
    }),
    tool: "write_file",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "file_edit",
    description: "Replaces a text that stands exactly once in a file.",
    parameters: z.strictObject({ path, old_content: z.string().min(1), new_content: z.string() }),
    tool: "edit_file",
    toArguments: ({ path: file, old_content: spec, new_content: content }) => ({
      path: file,
      edits: [{ operation: "replace", match_mode: "exact", spec, content, count: 1 }],
    }),
  }),
  dialectTool({
    name: "shell_exec",
    description: "Executes a shell command. A `timeout_ms` of 0 is the default time.",
    parameters: z.strictObject({
      command: z.string().min(1),
      cwd: z.string().default(""),
      timeout_ms: count.default(0),
      network_access: z.boolean().default(false),
      env: list.default([]).meta({ description: "`KEY=VALUE` each." }),
    }),
    tool: "shell",
    toArguments: ({ cwd, timeout_ms: timeout, ...rest }) => ({
      ...rest,
      ...(cwd !== "" && { cwd }),
      ...(timeout !== 0 && { timeout_ms: timeout }),
    }),
  }),
  dialectTool({
    name: "git_op",
    description: "Runs one operation of git, such as `STATUS`.",
    parameters: z.strictObject({ operation: z.string(), args: list.default([]), cwd: z.string().default("") }),
    tool: "git",
    toArguments: ({ cwd, ...rest }) => ({ ...rest, ...(cwd !== "" && { cwd }) }),
  }),
  dialectTool({
    name: "inference",
    description: "Asks a model; prompts are stored content, named by their BLAKE3-256.",
    parameters: z.strictObject({
      provider: z.string(),
      model: z.string(),
      prompt_hash: z.string(),
      max_tokens: count.default(0),
      temperature_scaled: count.default(0).meta({ description: "Hundredths." }),
      system_prompt_hash: z.string().default(""),
    }),
    tool: "inference",
    toArguments: ({ system_prompt_hash: system, ...rest }): JsonObject => ({
      ...rest,
      ...(system !== "" && { system_prompt_hash: system }),
    }),
  }),
  dialectTool({
    name: "artifact_publish",
    description: "Publishes stored content under a name, once.",
    parameters: z.strictObject({
      artifact_id: z.string(),
      content_hash: z.string(),
      category: z.string(),
      metadata: list.default([]).meta({ description: "`key=value` each." }),
    }),
    tool: "artifact_publish",
    toArguments: (args) => args,
  }),
];

/** The dialect. */
export const apm2: Dialect = { name: "apm2", tools: TOOLS, answer: () => ({}) };
