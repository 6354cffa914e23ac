/**
 * The codec's door: everything that needs the protobuf runtime, which takes tens of milliseconds to load. A kernel that
 * never meets encoded bytes, such as one behind MCP, does without it.
 */
export { toToolCall } from "./call.ts";
export { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from "./codec.ts";
export { requestFromJson } from "./json.ts";
export { refuseUndecodable, undecodableDenial } from "./refusal.ts";
export { responseBytes, toWireResponse } from "./response.ts";
export { readRequestId } from "./scan.ts";
