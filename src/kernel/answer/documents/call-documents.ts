/**
 * Builds the documents of a call: input, call and output, as canonical JSON named by its digest.
 *
 * Equal calls have equal documents but for what tells them apart: the request, the session, and what was known of the
 * caller. No time stands in them.
 *
 * INVARIANT: whatever the caller or the tool has words in went through redaction before it comes here, or goes through
 * it here.
 */
import { textOf } from "../../../base/bytes.ts";
import { blake3Hex, blake3KeyedHex } from "../../../base/hash.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { jsonProblem } from "../../../base/json-parse.ts";
import { NESTING_DEPTH_MAX } from "../../../base/limits.ts";
import type { EvidenceDocument } from "../../../cas/content-store.ts";
import type { Outcome } from "../../../model/tool/call.ts";
import type { Granted } from "../../call/stages.ts";
import { canonicalArguments } from "../../declared/plain-arguments.ts";
import { AT_ONCE_CHARACTERS_MAX } from "../../redaction/limits.ts";
import { textLength } from "../../redaction/long-texts.ts";
import { recordedArguments } from "../../redaction/recorded-arguments.ts";
import { ledgerRequestId } from "./ledger-request-id.ts";

/** Bytes of one document; what is larger is named in it by its digest. */
export const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;

/** Levels that a document puts around what it holds. */
const LEVELS_AROUND = 4;

/** A result that was answered, or the failure that was. */
export type Answered = Exclude<Outcome, { kind: "denied" }>;

/** The input of a call: its arguments without their secrets, or their keyed digest where they are too long. */
export function inputDocument(
  { call, tool, redaction }: Granted,
  { args }: JsonObject,
  argumentsKey: Uint8Array,
): EvidenceDocument {
  const about = { schema: "handrail.tool_input.v1", tool: tool.name };
  const isShort = args === undefined && textLength(call.arguments) <= AT_ONCE_CHARACTERS_MAX;
  const shown = isShort
    ? redaction.facts({ arguments: recordedArguments(redaction, call.arguments) })
    : args && { arguments: args };
  if (shown !== undefined && jsonProblem(shown, LEVELS_AROUND) === undefined) return documentOf({ ...about, ...shown });
  const text = canonicalArguments(call.arguments);
  const omitted = { bytes: Buffer.byteLength(text), digest: blake3KeyedHex(argumentsKey, text) };
  return documentOf({ ...about, arguments_omitted: omitted });
}

/** The call itself: who called, what it touches, by which rules it may, and its input by its hash. */
export function callDocument(
  { requestId, redaction, session }: Granted,
  input: EvidenceDocument,
  facts: JsonObject,
): EvidenceDocument {
  const { tool, role, preset, branch, contained, accesses, mark, rules, obligations, policy } = facts;
  return documentOf({
    schema: "handrail.tool_call.v1",
    tool,
    tool_input: input.hash,
    ...redaction.facts({ request_id: ledgerRequestId(requestId) }),
    session_id: session.id,
    actor: `${session.userId}/${session.agentId}`,
    role,
    preset,
    branch,
    contained,
    accesses,
    mark,
    rules,
    obligations,
    policy,
    approval_ref: facts["approvalRef"],
  });
}

/** The output of a call as it is answered: data, text or bytes without their secrets, or a failure. */
export function outputDocument(tool: string, callHash: string, outcome: Answered): EvidenceDocument {
  const about = { schema: "handrail.tool_output.v1", tool, tool_call: callHash };
  if (outcome.kind === "error") {
    const { code, message, suggestion, retryable } = outcome;
    return documentOf({ ...about, success: false, error: { code, message, suggestion, retryable } });
  }
  const { label, truncated, stored } = outcome;
  const { trustLevel, dataClass } = label;
  const facts = { ...about, success: true, label: { trustLevel, dataClass }, truncated };
  const kept = stored && { content: { hash: stored.hash, size: stored.sizeBytes } };
  const document = documentOf({ ...facts, ...kept, ...resultOf(outcome) });
  if (document.bytes.byteLength <= DOCUMENT_BYTES_MAX) return document;
  return documentOf({ ...facts, ...kept, result_omitted: { blake3: document.hash, bytes: document.bytes.byteLength } });
}

function resultOf({ data, bytes }: Extract<Answered, { kind: "success" }>): JsonObject {
  if (bytes !== undefined) {
    const text = textOf(bytes);
    return text === undefined ? { base64: Buffer.from(bytes).toString("base64") } : { text };
  }
  if (jsonProblem(data, LEVELS_AROUND) === undefined) return { data };
  const plain = wellFormed(data, LEVELS_AROUND);
  if (jsonProblem(plain, LEVELS_AROUND) === undefined) return { data: plain as JsonObject };
  const text = JSON.stringify(data);
  return { result_omitted: { blake3: blake3Hex(text), bytes: Buffer.byteLength(text) } };
}

/** A value as JSON text has it, where a tool's own code has made one that canonical JSON does not know. */
function wellFormed(value: JsonValue, depth: number): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null || depth > NESTING_DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue | undefined) => wellFormed(item ?? null, depth + 1));
  const members = Object.entries(value as JsonObject).flatMap(([name, member]) =>
    member === undefined ? [] : [[name.toWellFormed(), wellFormed(member, depth + 1)] as const],
  );
  return Object.fromEntries(members);
}

function documentOf(value: JsonObject): EvidenceDocument {
  const bytes = Buffer.from(canonicalJson(value));
  return { hash: blake3Hex(bytes), bytes };
}
