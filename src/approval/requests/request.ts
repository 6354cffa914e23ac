/**
 * Builds the request for approval as a document named by its digest.
 *
 * The document is what people see, so what was shown, decided and recorded are the same.
 *
 * INVARIANTS: The document holds nothing secret. The one-time code stands beside it and is shown to nobody who only
 * asks. A stored request counts only while it is still what its reference names.
 */

import { KIB } from "../../base/bytes.ts";
import { KernelError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { RandomBytes } from "../../base/ids.ts";
import { canonicalJson, isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseJson } from "../../base/json-parse.ts";
import type { ApprovalRequest, Coverage } from "../../model/approval/approval.ts";
import type { ApprovalOwner, NewApproval, StoredApproval } from "./approval-store.ts";
import type { CallBinding } from "./binding.ts";

/** Bytes of one request as it is shown and kept, diffs included. */
export const APPROVAL_DOCUMENT_BYTES_MAX = 512 * KIB;

const SCHEMA = "handrail.tool_approval_request.v1";
/** Random bytes of a one-time code, and of what tells equal requests apart: 128 bits. */
const CODE_BYTES = 16;

/** A call that people are to be asked about. */
export interface Wanted extends CallBinding {
  readonly caller: ApprovalOwner & { readonly sessionId: string; readonly sessionEndsAtMs: number };
  readonly requestId: string;
  readonly tool: string;
  /** Rules that ask. */
  readonly rules: readonly string[];
  readonly inBand: boolean;
  /** What an answer for its kind would cover; nothing where it has none. */
  readonly covers: readonly Coverage[];
  /** Says what is asked, redacted and bounded. */
  readonly describe: () => Promise<ApprovalRequest>;
}

/** The request to store. @throws KernelError INTERNAL when it is larger than what people can be shown */
export function newApproval(
  { call, binding, caller, tool, inBand, covers }: Wanted,
  described: ApprovalRequest,
  { nowMs, lifetimeMs, random }: { readonly nowMs: number; readonly lifetimeMs: number; readonly random: RandomBytes },
): NewApproval {
  const { userId, agentId, serviceRoot, sessionId, sessionEndsAtMs } = caller;
  const createdAtMs = Math.floor(nowMs);
  const expiresAtMs = Math.min(createdAtMs + lifetimeMs, Math.floor(sessionEndsAtMs));
  const document = canonicalJson({
    schema: SCHEMA,
    ...(described as unknown as JsonObject),
    binding,
    nonce: text(random(CODE_BYTES)),
    created_at_ms: createdAtMs,
    expires_at_ms: expiresAtMs,
  });
  if (Buffer.byteLength(document) > APPROVAL_DOCUMENT_BYTES_MAX)
    throw new KernelError("INTERNAL", "a request for approval is larger than what people can be shown");
  return {
    ref: `blake3:${blake3Hex(document)}`,
    call,
    binding,
    userId,
    agentId,
    serviceRoot,
    sessionId,
    sessionEndsAtMs,
    tool,
    createdAtMs,
    expiresAtMs,
    document,
    code: text(random(CODE_BYTES)),
    inBand,
    kind: kindOf(sessionId, covers),
  };
}

/** Names the kind of a call within its session. */
function kindOf(sessionId: string, covers: readonly Coverage[]): string {
  if (covers.length === 0) return "";
  return blake3Hex(canonicalJson([sessionId, ...covers.map(({ digest }) => digest).sort()]));
}

/**
 * Whether what is stored is what people are asked: the document that its reference names, and beside it the call that
 * the document is about. Whoever shows a request or acts on it asks this first.
 */
export function isIntact({ ref, document, binding, tool, createdAtMs }: NewApproval): boolean {
  if (ref !== `blake3:${blake3Hex(document)}`) return false;
  const json = parseJson(document);
  if (!json.ok || !isJsonObject(json.value)) return false;
  const { binding: named, tool: used, created_at_ms: madeAtMs } = json.value;
  return named === binding && used === tool && madeAtMs === createdAtMs;
}

/** What a stored request asks, in meao's shape. */
export function requestIn({ document }: StoredApproval): ApprovalRequest {
  const { id, tool, action, summary, risks, details } = JSON.parse(document) as ApprovalRequest;
  return { id, tool, action, summary, risks, ...(details && { details }) };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
