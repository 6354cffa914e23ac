/**
 * Exports Handrail as a library.
 *
 * Callers open a kernel, open a session and make governed calls, or use the wire codec and validator alone.
 */
export { type ApprovalHandler, ApprovalManager } from "./approval/handler.ts";
export { KernelError } from "./base/errors.ts";
export type { JsonObject, JsonValue } from "./base/json.ts";
export type { Fetched, UploadAnnouncement } from "./kernel/index.ts";
export type { ApprovalDetails, ApprovalRequest } from "./model/approval/approval.ts";
export type { Denial, Violation } from "./model/outcome/decision.ts";
export { Refusal, ToolFailure } from "./model/outcome/failure.ts";
export type { DataClass, Label, TrustLevel } from "./model/outcome/label.ts";
export type { ProgressListener, ProgressReport } from "./model/outcome/progress.ts";
export type { Access } from "./model/place/access.ts";
export type { CallResponse, Outcome } from "./model/tool/call.ts";
export type { ToolCapability } from "./model/tool/capability.ts";
export type { Tool, ToolContext, ToolOutput } from "./model/tool/tool.ts";
export type { ToolResult, ToolResultError, ToolResultMetadata } from "./model/tool/tool-result.ts";
export {
  type CallOptions,
  type CallResult,
  type ContentRange,
  createKernel,
  type Kernel,
  type KernelSession,
  type SessionOptions,
} from "./server/doors/library.ts";
export { type MadeCall, type MadeCalls, makeTextCalls } from "./server/doors/text-calls.ts";
export { type ExecutorContext, type ExecutorResult, ToolExecutor } from "./server/doors/tool-executor.ts";
export type { PluginModule, PluginSource } from "./server/plugins/load-plugins.ts";
export { ToolRegistryBuilder } from "./server/plugins/registry-builder.ts";
export {
  type ExecuteAllOptions,
  type Invocation,
  type PlainDefinition,
  registerBuiltinTools,
  ToolRegistry,
} from "./server/plugins/tool-registry.ts";
export { type DefinedTool, defineTool } from "./tools/kit/define-tool.ts";
export type {
  ContainerOptions,
  ContainerResult,
  PluginCapability,
  PluginContext,
  PluginOutput,
  ToolPlugin,
} from "./tools/plugin/plugin.ts";
export { validateRequest as validate } from "./validate/validate.ts";
export { decodeRequest as decode, encodeRequest as encode } from "./wire/protobuf.ts";
export type { TextEvent, TextPosition, TextProblem, ToolInvocation } from "./wire/xml/events.ts";
export { ToolParser } from "./wire/xml/tool-parser.ts";
