/**
 * Handrail as a library: open a kernel, open a session, make governed calls; or use the wire codec and validator alone.
 */
export { type ApprovalHandler, ApprovalManager } from "./approval/handler.ts";
export { KernelError } from "./base/errors.ts";
export type { JsonObject, JsonValue } from "./base/json.ts";
export { type Fetched, ToolRegistry, type UploadAnnouncement } from "./kernel/index.ts";
export type { Access } from "./model/access.ts";
export type { ApprovalDetails, ApprovalRequest } from "./model/approval.ts";
export type { CallResponse, Outcome } from "./model/call.ts";
export type { ToolCapability } from "./model/capability.ts";
export type { Denial, Violation } from "./model/decision.ts";
export { defineTool, type ToolPlugin } from "./model/define-tool.ts";
export { Refusal, ToolFailure } from "./model/failure.ts";
export type { DataClass, Label, TrustLevel } from "./model/label.ts";
export type { ProgressListener, ProgressReport } from "./model/progress.ts";
export type { Tool, ToolContext, ToolOutput } from "./model/tool.ts";
export type { ToolResult, ToolResultError, ToolResultMetadata } from "./model/tool-result.ts";
export {
  type CallOptions,
  type CallResult,
  type ContentRange,
  createKernel,
  type Kernel,
  type KernelSession,
  type SessionOptions,
} from "./server/library.ts";
export { type ExecutorResult, ToolExecutor } from "./server/tool-executor.ts";
export { validateRequest as validate } from "./validate/validate.ts";
export { decodeRequest as decode, encodeRequest as encode } from "./wire/protobuf.ts";
