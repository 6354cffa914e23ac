/** meao's dialect: `read`, `write`, `edit`, `bash` and `web_fetch`, answered as `{success, output}`. */
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import type { CallResponse } from "../../model/tool/call.ts";
import {
  type AnsweredCall,
  commandText,
  type Dialect,
  type DialectTool,
  dialectTool,
  plainText,
  type Spoken,
} from "./dialect.ts";

const path = z.string().meta({ description: "A file of the workspace." });

const TOOLS: readonly DialectTool[] = [
  dialectTool({
    name: "read",
    description: "Read a file from the workspace.",
    parameters: z.strictObject({ path, encoding: z.enum(["utf-8", "base64"]).optional() }),
    tool: "read_file",
    toArguments: ({ path: file, encoding }) => ({ path: file, ...(encoding !== undefined && { encoding }) }),
  }),
  dialectTool({
    name: "write",
    description: "Write a file of the workspace, whole.",
    parameters: z.strictObject({ path, content: z.string() }),
    tool: "write_file",
    toArguments: (args) => args,
  }),
  dialectTool({
    name: "edit",
    description: "Replace a text that stands once in a file.",
    parameters: z.strictObject({ path, oldText: z.string().min(1), newText: z.string() }),
    tool: "edit_file",
    toArguments: ({ path: file, oldText, newText }) => ({ path: file, old_string: oldText, new_string: newText }),
  }),
  dialectTool({
    name: "bash",
    description: "Execute a shell command in a sandbox, without a network.",
    parameters: z.strictObject({
      command: z.string(),
      workDir: z.string().optional(),
      timeout: z.int().min(1).optional().meta({ description: "Milliseconds." }),
    }),
    tool: "shell",
    toArguments: ({ command, workDir, timeout }) => ({
      command,
      ...(workDir !== undefined && { cwd: workDir }),
      ...(timeout !== undefined && { timeout_ms: timeout }),
    }),
  }),
  dialectTool({
    name: "web_fetch",
    description: "Fetch content from a URL.",
    parameters: z.strictObject({
      url: z.string(),
      method: z.enum(["GET", "POST", "PUT", "DELETE"]).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional(),
    }),
    tool: "web_fetch",
    toArguments: ({ url, method, headers, body }) => ({
      url,
      format: "raw",
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    }),
  }),
];

/** The dialect. */
export const meao: Dialect = {
  name: "meao",
  tools: TOOLS,
  answer({ tool, response }: AnsweredCall): Spoken {
    const result = meaoResult(tool, response);
    const text = result.error === undefined ? result.output : [result.output, result.error].filter(Boolean).join("\n");
    const { outcome, durationMs } = response;
    if (outcome.kind !== "success") return { text };
    const { trustLevel, dataClass, source } = outcome.label;
    const label = { trustLevel, dataClass, source: { ...source } };
    return { text, data: { ...result, label, truncated: outcome.truncated, executionTime: Math.round(durationMs) } };
  },
};

/** What meao's callers get of a call. Type alias, so that it is also plain JSON. */
export type MeaoResult = {
  readonly success: boolean;
  readonly output: string;
  /** What went wrong, such as `Exit code: 3`. */
  readonly error?: string;
};

/** The result of a call of the kernel's tool `tool`, in meao's words. */
export function meaoResult(tool: string, { outcome }: CallResponse): MeaoResult {
  switch (outcome.kind) {
    case "success": {
      const { data } = outcome;
      if (isCommand(data)) return commandResult(data);
      if (tool === "web_fetch" && data["success"] === false)
        return { success: false, output: plainText(outcome), error: String(data["error"]) };
      return { success: true, output: plainText(outcome) };
    }
    case "denied": {
      const { layer, message } = outcome.denial;
      if (layer === "approval") return { success: false, output: `Approval denied: ${message}` };
      return { success: false, output: tool === "web_fetch" ? `Network blocked: ${message}` : message };
    }
    case "error":
      return { success: false, output: `${outcome.message}; ${outcome.suggestion}` };
  }
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
