/**
 * The peer of the Connect figures: the bare framework, with its own adapter, around a handler that answers a constant:
 * a file to a read, nothing to a call.
 */
import { createServer } from "node:http";
import { create } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ToolKernel } from "../../src/gen/handrail/tool/v1/kernel_pb.ts";
import { ToolResponseSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { FILE_BYTES } from "../playground.ts";

const label = {
  trustLevel: "verified",
  dataClass: "internal",
  origin: "tool:read_file",
  timestamp: "2026-01-01T00:00:00.000Z",
};
const value = { inlineResult: new Uint8Array(FILE_BYTES).fill(97), durationMs: 0n, label };
const answer = create(ToolResponseSchema, { requestId: "bench-1", result: { case: "success", value } });

const nothing = create(ToolResponseSchema, { requestId: "bench-1", result: { case: "success", value: {} } });

const adapter = connectNodeAdapter({
  acceptCompression: [],
  routes: (router) =>
    router.service(ToolKernel, { execute: ({ tool }) => (tool.case === "fileRead" ? answer : nothing) }),
});
const server = createServer(adapter);
server.listen(process.argv[2] ?? "", () => process.stderr.write("listening\n"));
process.once("SIGTERM", () => {
  server.closeAllConnections();
  server.close();
});
