/**
 * Keeps what was asked and what was decided as documents that the ledger names.
 *
 * A request is kept as the text that its reference digests. An approval counts only once its document is kept; a
 * refusal holds in any case.
 */
import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { ApprovalDecision, StoredApproval } from "./requests/approval-store.ts";

/** Port: where documents of approvals are kept. */
export interface ApprovalDocuments {
  /**
   * Keeps a canonical text for an entry of the ledger; `undefined` where the operator wants no documents.
   * @returns BLAKE3-256 of the text, 64 hexadecimal digits
   * @throws KernelError STORE_UNAVAILABLE
   */
  readonly keep: (
    text: string,
    entry: { readonly sessionId: string; readonly requestId: string },
  ) => Promise<string | undefined>;
  /** A person's words without secrets. */
  readonly hideSecrets: (text: string) => Promise<string>;
}

/** Keeps a request. @returns the members by which its entry names it */
export async function keepRequest(
  documents: ApprovalDocuments | undefined,
  { document, sessionId }: Pick<StoredApproval, "document" | "sessionId">,
  requestId: string,
): Promise<JsonObject> {
  const hash = await documents?.keep(document, { sessionId, requestId });
  return hash === undefined ? {} : { document: hash };
}

/** Keeps a decision. @returns the members by which its entry names it */
export async function keepDecision(
  documents: ApprovalDocuments | undefined,
  { ref, sessionId }: Pick<StoredApproval, "ref" | "sessionId">,
  { approved, by, channel, atMs, scope, reason }: ApprovalDecision,
): Promise<JsonObject> {
  if (documents === undefined) return {};
  const text = canonicalJson({
    schema: "handrail.tool_approval.v1",
    approval_ref: ref,
    approved,
    by,
    channel,
    decided_at_ms: Math.floor(atMs),
    ...(scope && { scope: { ...scope } }),
    ...(reason !== undefined && { reason: (await documents.hideSecrets(reason)).toWellFormed() }),
  });
  const hash = await documents.keep(text, { sessionId, requestId: "" });
  return hash === undefined ? {} : { document: hash };
}
