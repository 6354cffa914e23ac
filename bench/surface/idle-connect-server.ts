/**
 * Handrail behind Connect with a tool that does nothing: every stage, the ledger and the front door, and no work. `node
 * idle-connect-server.ts STATE CONFIG WORKSPACE SOCKET`; prints the session's token.
 */
import { z } from "zod";
import { defineTool } from "../../src/index.ts";
import { openKernel } from "../../src/server/compose.ts";
import { unixAddress } from "../../src/server/doors/http-address.ts";
import { serveHttp } from "../../src/server/doors/serve-connect.ts";

const [, , stateDirectory = "", configDirectory = "", workspace = "", socket = ""] = process.argv;
const idle = defineTool({
  name: "idle",
  title: "Do nothing",
  description: "Does nothing.",
  parameters: z.strictObject({}),
  capability: { effect: "read", risk: "low", approval: { level: "auto" }, labels: { outputTrust: "verified" } },
  analyse: () => [],
  execute: () => ({ kind: "data", data: {} }),
});
const kernel = await openKernel({ environment: process.env, stateDirectory, configDirectory, tools: [idle] });
const { token } = await kernel.administration.createSession({ workspace, userId: "bench", agentId: "bench" });
const server = await serveHttp(kernel, [unixAddress(socket)]);
process.stderr.write(`token ${token}\nlistening\n`);
process.once("SIGTERM", () => void server.close().then(() => kernel.close()));
