/**
 * MCP over a line transport, for clients of the 2025-11-25 revision and before.
 *
 * Every `tools/call` goes through the kernel's door under the session of this client. Nothing is decided here: names,
 * schemas and results are the kernel's. Schemas are converted once.
 */
import type { Readable, Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { newId, type RandomBytes } from "../../base/ids.ts";
import { canonicalJson, type JsonObject } from "../../base/json.ts";
import type { KernelDoor, ToolDefinition } from "../../kernel/index.ts";
import type { CallResponse } from "../../model/call.ts";
import type { EffectClass } from "../../model/effect.ts";
import { toToolResult } from "../../wire/index.ts";
import { LineTransport } from "./stdio-transport.ts";

/** What a served client is bound to. */
export interface McpOptions {
  readonly door: KernelDoor;
  readonly sessionToken: string;
  readonly version: string;
  readonly instructions: string;
  readonly random: RandomBytes;
  /** Called once the tools were first listed: now is the time to prepare for calls. */
  readonly onListed: () => void;
  readonly onError: (error: Error) => void;
}

/** The protocol object of one client, with its handlers set. */
export function createMcpServer(options: McpOptions): Server {
  const { door, sessionToken, random } = options;
  const server = new Server(
    { name: "handrail", title: "Handrail", version: options.version },
    { capabilities: { tools: {} }, instructions: options.instructions },
  );
  let listed: JsonObject[] | undefined;
  server.setRequestHandler("tools/list", async () => {
    // Two turns later: the answer itself leaves in the next one, and preparing keeps the thread busy for a while.
    if (listed === undefined) setImmediate(() => setImmediate(options.onListed));
    listed ??= door.tools().map(describe);
    return { tools: listed } as never;
  });
  server.setRequestHandler("tools/call", async (request, context) => {
    const { name, arguments: args, _meta: meta } = request.params;
    const dedupeKey = meta?.["handrail/dedupe_key"];
    const response = await door.execute(
      {
        kind: "call",
        requestId: newId("req", random),
        sessionToken,
        tool: name,
        arguments: args ?? {},
        ...(dedupeKey !== undefined && { dedupeKey: String(dedupeKey) }),
      },
      context.mcpReq.signal,
    );
    return toCallResult(response) as never;
  });
  return server;
}

/** Serves one client over a pair of streams; resolves when the client is gone. */
export async function serveMcp(options: McpOptions, input: Readable, output: Writable): Promise<void> {
  const server = createMcpServer(options);
  server.onerror = options.onError;
  const gone = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
  });
  await server.connect(new LineTransport(input, output));
  await gone;
}

function describe(tool: ToolDefinition): JsonObject {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: envelope(tool.outputSchema),
    annotations: annotate(tool.title, tool.effect),
  };
}

function annotate(title: string, effect: EffectClass): JsonObject {
  const readOnly = effect === "read";
  return {
    title,
    readOnlyHint: readOnly,
    destructiveHint: !readOnly && effect !== "control",
    idempotentHint: readOnly,
    openWorldHint: effect === "network",
  };
}

/** JSON Schema of the result document around a tool's own data. */
function envelope(data: JsonObject | undefined): JsonObject {
  return {
    type: "object",
    properties: {
      status: { type: "string", enum: ["success", "error"] },
      data: data ?? { type: "object" },
      error: { type: "object", properties: { code: { type: "string" }, message: { type: "string" }, suggestion: { type: "string" } } },
      metadata: { type: "object" },
    },
    required: ["status", "metadata"],
  };
}

function toCallResult(response: CallResponse): JsonObject {
  const result = toToolResult(response);
  return { content: [{ type: "text", text: textOf(response) }], structuredContent: result, isError: response.outcome.kind !== "success" };
}

/** What a client without structured content shows its model. */
function textOf(response: CallResponse): string {
  const { outcome } = response;
  if (outcome.kind === "denied") return `denied by ${outcome.denial.ruleId} (${outcome.denial.reason}): ${outcome.denial.message}`;
  if (outcome.kind === "error") return `${outcome.code}: ${outcome.message}; ${outcome.suggestion}`;
  const { content } = outcome.data;
  return typeof content === "string" ? content : canonicalJson(outcome.data);
}
