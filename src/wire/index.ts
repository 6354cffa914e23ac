/** The wire's door to what needs no protobuf: frames, result documents, errors. The codec has a door of its own. */
export { FrameReader, frame, frameSize, writeFrame } from "./frame.ts";
export { toToolResult } from "./result.ts";
export { WireError } from "./wire-error.ts";
