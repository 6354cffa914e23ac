/** The wire's door: what the kernel and the transports use of it. */
export { toToolCall } from "./call.ts";
export { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from "./codec.ts";
export { FrameReader, frame, frameSize, writeFrame } from "./frame.ts";
export { requestFromJson } from "./json.ts";
export { refuseUndecodable, undecodableDenial } from "./refusal.ts";
export { toWireResponse } from "./response.ts";
export { toToolResult } from "./result.ts";
export { readRequestId } from "./scan.ts";
export { WireError } from "./wire-error.ts";
