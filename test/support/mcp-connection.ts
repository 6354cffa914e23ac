/**
 * A served MCP connection in this process: raw lines in, raw lines out, behind it a door that answers as the test says.
 */
import { PassThrough } from "node:stream";
import type { JsonObject } from "../../src/base/json.ts";
import type { KernelDoor, RoundCall, Submission } from "../../src/kernel/index.ts";
import type { Denial } from "../../src/model/outcome/decision.ts";
import type { ProgressListener } from "../../src/model/outcome/progress.ts";
import type { CallResponse, Outcome } from "../../src/model/tool/call.ts";
import type { McpOptions } from "../../src/transports/mcp/protocol/options.ts";
import { serveMcp } from "../../src/transports/mcp/server.ts";
import { signalOf } from "./call-end.ts";

/** A line that the server wrote. */
export type Line = Readonly<Record<string, unknown>> & {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
};
/** What the door answers to a call. */
export type Execute = (
  call: Extract<Submission, { kind: "call" }>,
  signal: AbortSignal,
  listener?: ProgressListener,
) => Promise<Outcome>;

/** The outcome of a read that succeeds. */
export const READ: Outcome = {
  kind: "success",
  data: { content: "one\n", path: "a.txt" },
  label: {
    trustLevel: "verified",
    dataClass: "internal",
    source: { origin: "tool:read_file", timestamp: "2026-01-02T03:04:05Z" },
  },
  truncated: false,
};
/** The outcome of a refused call. */
export const denied = (layer: "validate" | "gates" | "call" | "approval", reason: string): Outcome => ({
  kind: "denied",
  denial: { layer, reason, ruleId: "RULE", message: "no", fix: "do" },
});

const TOOL = {
  name: "read_file",
  title: "Read a file",
  description: "Reads a file.",
  effect: "read",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { content: { type: "string" } } },
  toText: ({ content }: JsonObject) => String(content),
} as const;

/** Serves one client whose other side is the test, in front of a door that answers as `execute` says. */
export function connect(execute: Execute = async () => READ) {
  const calls: Extract<Submission, { kind: "call" }>[] = [];
  const refused: Denial[] = [];
  const door = {
    tools: () => [TOOL],
    offered: async () => [TOOL],
    tool: (name: string) => (name === TOOL.name ? TOOL : undefined),
    recordRefusal: async (denial: Denial) => void refused.push(denial),
    async answerRound({ requestId }: RoundCall) {
      const response = { requestId, outcome: denied("approval", "tool_approval_invalid"), durationMs: 0, rules: [] };
      return { kind: "refused", response };
    },
    async execute(
      submission: Submission,
      end: AbortSignal | AbortController,
      { listener }: { readonly listener?: ProgressListener } = {},
    ): Promise<CallResponse> {
      if (submission.kind !== "call") throw new Error("only calls are made over MCP");
      calls.push(submission);
      const outcome = await execute(submission, signalOf(end), listener);
      return { requestId: submission.requestId, outcome, durationMs: 0.4, rules: ["dev.read-files"] };
    },
  } as unknown as KernelDoor;
  return { ...connectTo(door), calls, refused };
}

/** Serves one client whose other side is the test. */
export function connectTo(
  door: KernelDoor,
  sessionToken = "token",
  offers: Pick<McpOptions, "features" | "heldAfterMs"> = {},
) {
  const input = new PassThrough();
  const output = new PassThrough();
  const errors: string[] = [];
  let last = 0;
  const served = serveMcp(
    {
      door,
      sessionToken,
      version: "1.2.3",
      instructions: "Be careful.",
      newRequestId: () => `r${++last}`,
      onListed: () => undefined,
      onError: (error) => errors.push(error.message),
      ...offers,
    },
    input,
    output,
  );
  let text = "";
  output.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const raw = (): string[] => text.split("\n").filter((line) => line !== "");
  return {
    errors,
    write: (...messages: readonly (object | string)[]) => {
      for (const message of messages)
        input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
    },
    raw,
    lines: () => raw().map((line) => JSON.parse(line) as Line),
    async until(count: number): Promise<readonly Line[]> {
      while (raw().length < count) await new Promise((resolve) => setImmediate(resolve));
      return raw().map((line) => JSON.parse(line) as Line);
    },
    input,
    served,
    /** Closes the input and gives every line that was answered. */
    async end(): Promise<readonly Line[]> {
      input.end();
      await served;
      await new Promise((resolve) => setImmediate(resolve));
      return raw().map((line) => JSON.parse(line) as Line);
    },
  };
}

/** Sends messages on a connection of their own and gives the answers. */
export async function exchange(messages: readonly (object | string)[], execute?: Execute): Promise<readonly Line[]> {
  const connection = connect(execute);
  connection.write(...messages);
  return connection.end();
}

/** A faultless `_meta` of the modern era. */
export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
/** A modern request. */
export const modern = (id: unknown, method: string, params: object = {}, meta: object = META) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { _meta: meta, ...params },
});
/** A legacy request. */
export const legacy = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
/** The legacy handshake. */
export const initialize = (protocolVersion = "2025-11-25") =>
  legacy("init", "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } });
/** Parameters of a call. */
export const READ_CALL = { name: "read_file", arguments: { path: "a.txt" } };
/** The cancellation of a request. */
export const cancel = (requestId: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});
/** Ids and error codes. */
export const codes = (lines: readonly Line[]) => lines.map(({ id, error }) => [id, error?.code]);
/** Answers by their ids. */
export const byId = (lines: readonly Line[]) => Object.fromEntries(lines.map((line) => [String(line.id), line]));
