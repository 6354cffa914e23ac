/**
 * MCP over a line transport, for clients of the 2025-11-25 revision and before.
 *
 * Every `tools/call` goes through the kernel's door under the session of this client. Nothing is decided here: names,
 * schemas and results are the kernel's. Schemas are converted once.
 */
import type { Readable, Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import type { ToolDefinition } from "../../kernel/index.ts";
import type { EffectClass } from "../../model/effect.ts";
import { callTool } from "./call-tool.ts";
import { DirectCalls } from "./direct-calls.ts";
import type { McpOptions } from "./options.ts";
import { resultObject } from "./print-result.ts";
import { LineTransport } from "./stdio-transport.ts";

/** The protocol object of one client, with its handlers set. */
export function createMcpServer(options: McpOptions): Server {
  const { door } = options;
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
  server.setRequestHandler(
    "tools/call",
    async (request, context) => resultObject(await callTool(options, request.params, context.mcpReq.signal)) as never,
  );
  return server;
}

/** Serves one client over a pair of streams; resolves when the client is gone. */
export async function serveMcp(options: McpOptions, input: Readable, output: Writable): Promise<void> {
  const server = createMcpServer(options);
  server.onerror = options.onError;
  const gone = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
  });
  await server.connect(new DirectCalls(new LineTransport(input, output), (params, signal) => callTool(options, params, signal)));
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
