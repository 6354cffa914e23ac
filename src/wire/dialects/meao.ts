/** meao's dialect: `read`, `write`, `edit`, `bash` and `web_fetch`, answered as `{success, output}`. */
import * as z from "zod";
import type { CallResponse } from "../../model/tool/call.ts";
import { type AnsweredCall, type Dialect, type DialectTool, dialectTool, type Spoken } from "./dialect.ts";
import { type MeaoResult, ranResult } from "./meao-result.ts";

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

function meaoResult(tool: string, { outcome }: CallResponse): MeaoResult {
  switch (outcome.kind) {
    case "success":
      return ranResult(outcome);
    case "denied": {
      const { layer, message } = outcome.denial;
      if (layer === "approval") return { success: false, output: `Approval denied: ${message}` };
      return { success: false, output: tool === "web_fetch" ? `Network blocked: ${message}` : message };
    }
    case "error":
      return { success: false, output: `${outcome.message}; ${outcome.suggestion}` };
  }
}
