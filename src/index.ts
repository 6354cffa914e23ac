/**
 * Handrail as a library: open a kernel, open a session, make governed calls; or use the wire codec and validator alone.
 */
export { KernelError } from "./base/errors.ts";
export { ToolRegistry } from "./kernel/index.ts";
export type { Access } from "./model/access.ts";
export type { CallResponse, Outcome } from "./model/call.ts";
export type { ToolCapability } from "./model/capability.ts";
export type { Denial, Violation } from "./model/decision.ts";
export { Refusal, ToolFailure } from "./model/failure.ts";
export type { Label } from "./model/label.ts";
export type { Tool, ToolContext, ToolOutput } from "./model/tool.ts";
export { type CallOptions, type CallResult, createKernel, type Kernel, type KernelSession, type SessionOptions } from "./server/library.ts";
export { validateRequest as validate } from "./validate/validate.ts";
export { decodeRequest as decode, encodeRequest as encode } from "./wire/protobuf.ts";
