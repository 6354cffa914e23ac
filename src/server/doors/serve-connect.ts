/** Serves an open kernel over HTTP: RPC and MCP for agents, administration for the operator. */
import { newId, systemRandom } from "../../base/ids.ts";
import { type ConnectAddress, type ConnectServer, serveConnect } from "../../transports/connect/index.ts";
import { adminPort } from "../admin/admin-port.ts";
import type { OpenKernel } from "../compose.ts";
import { mcpHttpDoor } from "./serve-mcp-http.ts";

/** Serves `kernel` on every address until closed. */
export async function serveHttp(kernel: OpenKernel, addresses: readonly ConnectAddress[]): Promise<ConnectServer> {
  const admin = adminPort(kernel);
  const server = await serveConnect({
    door: kernel.door,
    admin,
    other: mcpHttpDoor(kernel),
    addresses,
    newRequestId: () => newId("req", systemRandom),
    onError: (error) => {
      if (isListening(error)) return; // it is thrown as well, with what to do
      kernel.reportDoorError(error, error instanceof Error ? (error.stack ?? error.message) : String(error));
    },
  });
  return {
    async close() {
      await server.close();
      await admin.close();
    },
  };
}

/** Whether an address could not be listened on. */
function isListening(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}
