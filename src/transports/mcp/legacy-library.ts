/**
 * The protocol library's server for the legacy era. It never sees a call: those are made before it. Loading it takes some
 * 40 ms and 7 MiB, so that `legacy-era.ts` does that only for what it does not answer itself.
 */
import { ProtocolError, Server, type Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { INVALID_PARAMS } from "./rpc-error.ts";
import type { ServerIdentity } from "./server-identity.ts";

/** What the library answers from. */
export interface LegacySource {
  readonly identity: ServerIdentity;
  /** The tools as MCP's objects. */
  readonly tools: () => readonly JsonObject[];
  readonly onError: (error: Error) => void;
}

/** Connects the library to a transport. */
export async function connectLibrary({ identity, tools, onError }: LegacySource, transport: Transport): Promise<void> {
  const { serverInfo, capabilities, instructions } = identity;
  const server = new Server(serverInfo, { capabilities, instructions });
  server.onerror = onError;
  server.setRequestHandler("tools/list", async ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(INVALID_PARAMS, "`cursor` is none of this server's; the list has one page, ask without it");
    return { tools: tools() } as never;
  });
  await server.connect(transport);
}
