/**
 * Validates a request against the protocol's invariants.
 *
 * Every violation is in one answer (CTR-0033), and there is none when the request is valid (CTR-0034). It trusts
 * nothing but the types of the decoded message, and it is not the policy: a valid request may still be refused.
 *
 * INVARIANT: work and answer are bounded by the size of the request and MAX_REPEATED_ITEMS.
 */
import { textOf } from "../base/bytes.ts";
import { hasMoreJsonValues, isJsonObject } from "../base/json.ts";
import { type ParsedJson, parseJson } from "../base/json-parse.ts";
import { ARGUMENT_VALUES_MAX, MAX_ID_LEN } from "../base/limits.ts";
import type { GenericCall, ToolRequest } from "../gen/handrail/tool/v1/tool_pb.ts";
import { hasMoreCharacters } from "../model/outcome/constraints.ts";
import type { Violation } from "../model/outcome/decision.ts";
import {
  checkBytes,
  checkHash,
  checkInteger,
  checkList,
  checkPath,
  checkText,
  checkWord,
  report,
  type Violations,
} from "./fields.ts";

export { invariantOf } from "../model/outcome/constraints.ts";

/** The envelope of a call that did not come as protobuf. `tool` is a canonical tool name. */
export interface CallEnvelope {
  readonly requestId: string;
  readonly sessionToken: string;
  readonly dedupeKey: string;
  readonly tool: string;
}

/** Every violation of `request` (INV-0001 to INV-0034), in the order of the fields' tags. */
export function validateRequest(request: ToolRequest): readonly Violation[] {
  const found: Violations = [];
  checkText(found, "request_id", request.requestId);
  checkText(found, "session_token", request.sessionToken);
  checkText(found, "dedupe_key", request.dedupeKey);
  checkTool(found, request.tool);
  return found;
}

/** What is wrong with arguments of more values than any tool takes. */
export const TOO_MANY_VALUES = `holds more than ${ARGUMENT_VALUES_MAX} values; send less at once`;

/** Every violation of an envelope, by the same rules as those of a decoded request. */
export function validateEnvelope(envelope: CallEnvelope): readonly Violation[] {
  const found: Violations = [];
  checkText(found, "request_id", envelope.requestId);
  checkText(found, "session_token", envelope.sessionToken);
  checkText(found, "dedupe_key", envelope.dedupeKey);
  const { tool } = envelope;
  if (tool === "") report({ found, field: "tool" }, "required", "names no tool; say which one to call");
  else if (hasMoreCharacters(tool, MAX_ID_LEN))
    report({ found, field: "tool" }, "max_length", `is longer than ${MAX_ID_LEN} characters; shorten it`);
  else if (!tool.isWellFormed())
    report({ found, field: "tool" }, "format", "is not Unicode text; send whole characters");
  return found;
}

function checkTool(found: Violations, tool: ToolRequest["tool"]): void {
  switch (tool.case) {
    case "fileRead":
      checkPath(found, "file_read.path", tool.value.path);
      checkInteger(found, "file_read.limit", tool.value.limit);
      return;
    case "fileWrite":
      checkPath(found, "file_write.path", tool.value.path);
      checkBytes(found, "file_write.content", tool.value.content);
      if (tool.value.createOnly && tool.value.append) {
        report(
          { found, field: "file_write" },
          "mutually_exclusive",
          "sets both `create_only` and `append`; set one of them",
        );
      }
      return;
    case "fileEdit":
      checkPath(found, "file_edit.path", tool.value.path);
      checkText(found, "file_edit.old_content", tool.value.oldContent);
      checkText(found, "file_edit.new_content", tool.value.newContent);
      return;
    case "shellExec":
      checkText(found, "shell_exec.command", tool.value.command);
      checkPath(found, "shell_exec.cwd", tool.value.cwd);
      checkInteger(found, "shell_exec.timeout_ms", tool.value.timeoutMs);
      checkList(found, "shell_exec.env", tool.value.env);
      return;
    case "gitOp":
      checkWord(found, "git_op.operation", tool.value.operation);
      checkList(found, "git_op.args", tool.value.args);
      checkPath(found, "git_op.cwd", tool.value.cwd);
      return;
    case "inference":
      checkText(found, "inference.provider", tool.value.provider);
      checkText(found, "inference.model", tool.value.model);
      checkHash(found, "inference.prompt_hash", tool.value.promptHash);
      checkInteger(found, "inference.max_tokens", tool.value.maxTokens);
      checkHash(found, "inference.system_prompt_hash", tool.value.systemPromptHash);
      return;
    case "artifactPublish":
      checkText(found, "artifact_publish.artifact_id", tool.value.artifactId);
      checkHash(found, "artifact_publish.content_hash", tool.value.contentHash);
      checkText(found, "artifact_publish.category", tool.value.category);
      checkList(found, "artifact_publish.metadata", tool.value.metadata);
      return;
    case "call":
      checkText(found, "call.name", tool.value.name);
      checkArguments(found, tool.value);
      return;
    default:
      report({ found, field: "tool" }, "required", "names no tool; set exactly one variant of `tool`");
  }
}

function checkArguments(found: Violations, call: GenericCall): void {
  if (!checkBytes(found, "call.arguments_json", call.argumentsJson)) return;
  const args = parseArguments(call.argumentsJson);
  if (!args.ok) {
    report(
      { found, field: "call.arguments_json" },
      "format",
      `${args.problem}; send one JSON object, \`{}\` for no arguments`,
    );
  } else if (hasMoreJsonValues(args.value, ARGUMENT_VALUES_MAX)) {
    report({ found, field: "call.arguments_json" }, "max_items", TOO_MANY_VALUES);
  }
}

function parseArguments(bytes: Uint8Array): ParsedJson {
  const text = textOf(bytes);
  if (text === undefined) return { ok: false, problem: "is not UTF-8" };
  const parsed = parseJson(text);
  return !parsed.ok || isJsonObject(parsed.value) ? parsed : { ok: false, problem: "is not a JSON object" };
}
