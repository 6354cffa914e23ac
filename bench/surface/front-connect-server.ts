/**
 * Handrail's Connect front door with nothing behind it: what the front door itself costs. `node front-connect-server.ts
 * SOCKET`.
 */
import type { CallResponse } from "../../src/model/tool/call.ts";
import { unixAddress } from "../../src/server/doors/http-address.ts";
import { serveConnect } from "../../src/transports/connect/index.ts";

const label = { trustLevel: "verified", dataClass: "internal", source: { origin: "bench", timestamp: "" } } as const;
const outcome = { kind: "success", data: {}, bytes: new Uint8Array(), label, truncated: false } as const;
const nothing: CallResponse = { requestId: "bench-1", outcome, durationMs: 0, rules: [] };
const refused = async () => ({ kind: "refused", response: nothing }) as const;

const server = await serveConnect({
  door: {
    execute: async () => nothing,
    admit: refused,
    tools: () => [],
    putContent: async () => nothing,
    getContent: refused,
    recordRefusal: async () => undefined,
  },
  addresses: [unixAddress(process.argv[2] ?? "")],
  newRequestId: () => "bench",
  onError: console.error,
});
process.stderr.write("listening\n");
process.once("SIGTERM", () => void server.close());
