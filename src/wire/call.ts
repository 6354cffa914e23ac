/**
 * A validated request as a call of a canonical tool. Each variant of the wire maps onto one tool's arguments; `call`
 * carries them as JSON.
 *
 * It trusts that the request was validated: numbers are within their limits, `arguments_json` is a JSON object.
 */
import { hex, textOf } from "../base/bytes.ts";
import { assert } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { parseJson } from "../base/json-parse.ts";
import type {
  FileEdit,
  FileRead,
  FileWrite,
  GenericCall,
  GitOperation,
  InferenceCall,
  ShellExec,
  ToolRequest,
} from "../gen/handrail/tool/v1/tool_pb.ts";
import type { ToolArguments, ToolCall, WireVariant } from "../model/tool/call.ts";
import type { ReplyForm } from "../model/tool/tool.ts";

interface Mapped {
  readonly tool: string;
  readonly variant: WireVariant;
  readonly arguments: ToolArguments;
  readonly reply: ReplyForm;
}

/** The call that `request` asks for. @throws KernelError INTERNAL for a request that was not validated */
export function toToolCall(request: ToolRequest): ToolCall {
  return {
    requestId: request.requestId,
    sessionToken: request.sessionToken,
    dedupeKey: request.dedupeKey,
    ...mapTool(request.tool),
  };
}

function mapTool(tool: ToolRequest["tool"]): Mapped {
  switch (tool.case) {
    case "fileRead":
      return { tool: "read_file", variant: "file_read", arguments: readArguments(tool.value), reply: "bytes" };
    case "fileWrite":
      return { tool: "write_file", variant: "file_write", arguments: writeArguments(tool.value), reply: "result" };
    case "fileEdit":
      return { tool: "edit_file", variant: "file_edit", arguments: editArguments(tool.value), reply: "result" };
    case "shellExec":
      return { tool: "shell", variant: "shell_exec", arguments: shellArguments(tool.value), reply: "result" };
    case "gitOp":
      return { tool: "git", variant: "git_op", arguments: gitArguments(tool.value), reply: "result" };
    case "inference":
      return { tool: "inference", variant: "inference", arguments: inferenceArguments(tool.value), reply: "result" };
    case "artifactPublish": {
      const { artifactId, contentHash, category, metadata } = tool.value;
      const values = { artifact_id: artifactId, content_hash: hex(contentHash), category, metadata };
      return { tool: "artifact_publish", variant: "artifact_publish", arguments: values, reply: "result" };
    }
    case "call":
      return { tool: tool.value.name, variant: "call", arguments: genericArguments(tool.value), reply: "result" };
    default:
      assert(false, "the request names no tool and was not validated");
  }
}

/** CTR-0004: `limit` 0 reads to the end, so it is left out. */
function readArguments(value: FileRead): ToolArguments {
  const { path, offset, limit } = value;
  return limit === 0n ? { path, offset: toNumber(offset) } : { path, offset: toNumber(offset), limit: toNumber(limit) };
}

function writeArguments(value: FileWrite): ToolArguments {
  return { path: value.path, content: value.content, create_only: value.createOnly, append: value.append };
}

/** CTR-0010: the old content must match exactly once. */
function editArguments(value: FileEdit): ToolArguments {
  const edit = {
    operation: "replace",
    match_mode: "exact",
    spec: value.oldContent,
    content: value.newContent,
    count: 1,
  };
  return { path: value.path, edits: [edit] };
}

/** CTR-0011, CTR-0012: an empty `cwd` and a `timeout_ms` of 0 stand for the defaults, so they are left out. */
function shellArguments(value: ShellExec): ToolArguments {
  return {
    command: value.command,
    ...(value.cwd === "" ? {} : { cwd: value.cwd }),
    ...(value.timeoutMs === 0n ? {} : { timeout_ms: toNumber(value.timeoutMs) }),
    network_access: value.networkAccess,
    env: value.env,
  };
}

function gitArguments(value: GitOperation): ToolArguments {
  const { operation, args, cwd } = value;
  return cwd === "" ? { operation, args } : { operation, args, cwd };
}

function inferenceArguments(value: InferenceCall): ToolArguments {
  return {
    provider: value.provider,
    model: value.model,
    prompt_hash: hex(value.promptHash),
    max_tokens: toNumber(value.maxTokens),
    temperature_scaled: value.temperatureScaled,
    ...(value.systemPromptHash.byteLength === 0 ? {} : { system_prompt_hash: hex(value.systemPromptHash) }),
  };
}

function genericArguments(value: GenericCall): ToolArguments {
  const text = textOf(value.argumentsJson);
  assert(text !== undefined, "the arguments are not UTF-8 and were not validated");
  const parsed = parseJson(text);
  assert(parsed.ok && isJsonObject(parsed.value), "the arguments are no JSON object and were not validated");
  return parsed.value;
}

/** A number of the wire; beyond 2^53 it becomes 2^53 - 1: an offset there is past the end of any file either way. */
function toNumber(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}
