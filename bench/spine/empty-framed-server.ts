/** The peer of the framed figure: the product's framed server around a handler that answers a constant. */
import { create } from "@bufbuild/protobuf";
import { ToolResponseSchema } from "../../src/gen/handrail/tool/v1/tool_pb.ts";
import { serveFramed } from "../../src/transports/framed/index.ts";
import { encodeResponse } from "../../src/wire/protobuf.ts";
import { FILE_BYTES } from "../playground.ts";

const value = { inlineResult: new Uint8Array(FILE_BYTES).fill(97), durationMs: 0n };
const answer = encodeResponse(create(ToolResponseSchema, { requestId: "bench-1", result: { case: "success", value } }));

const server = await serveFramed({
  socketPath: process.argv[2] ?? "",
  execute: async () => answer,
  onError: (error) => console.error(error),
});
process.once("SIGTERM", () => void server.close());
process.stderr.write("listening\n");
