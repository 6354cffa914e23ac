/**
 * The peer of the MCP figures over HTTP: the SDK's own handler and server with 20 tools, of which one reads a file.
 *
 * Nothing is governed: no session, policy, redaction or record.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const [root = ".", socket = ""] = process.argv.slice(2);
const TOOLS = 20;
// It is among the packages of the benchmarks alone, so that types are checked without it.
const { toNodeHandler } = await import(["@modelcontextprotocol", "node"].join("/"));

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "peer", version: "1" });
  for (let index = 1; index < TOOLS; index += 1)
    server.registerTool(
      `tool_${index}`,
      { description: `Tool ${index}.`, inputSchema: z.object({ path: z.string(), count: z.number().optional() }) },
      async () => ({ content: [{ type: "text", text: "done" }] }),
    );
  server.registerTool(
    "read_file",
    { description: "Reads a file.", inputSchema: z.object({ path: z.string() }) },
    async ({ path }) => ({ content: [{ type: "text", text: await readFile(join(root, path), "utf8") }] }),
  );
  return server;
});
const serve = toNodeHandler(handler);
const server = createServer((request, response) => void serve(request, response));
server.listen(socket, () => process.stderr.write("listening\n"));
process.once("SIGTERM", () => {
  server.closeAllConnections();
  server.close();
});
