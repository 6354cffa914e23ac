/**
 * Approval in band for clients that cannot be asked while their call waits: they look at the request that refused it, show it to the
 * person who sits there, and hand the answer in with their next message.
 *
 * INVARIANT: whoever looks or answers is the session that was refused, and the operator says that a person attends its client; nobody
 * else learns that there is such a request.
 */
import type { InBandClient, InBandOutcome } from "../approval/approvals.ts";
import type { InBandAnswer } from "../approval/in-band.ts";
import { requestIn } from "../approval/request.ts";
import type { ApprovalRequest } from "../model/approval.ts";
import { type Asker, admit } from "./admit.ts";
import type { Evidence } from "./evidence.ts";
import type { KernelParts } from "./parts.ts";

/** What the attended client of a session may be shown; `undefined` when there is nothing. */
export async function requestInBand(
  parts: KernelParts,
  evidence: Evidence,
  asker: Asker,
  ref: string,
  { client }: Pick<InBandClient, "client">,
): Promise<ApprovalRequest | undefined> {
  const admitted = await admit(parts, evidence, asker);
  if (admitted.kind === "refused" || !parts.approvals.isAttended(client)) return undefined;
  const approval = await parts.approvals.find(ref);
  const isOpen = approval?.state === "pending" && approval.inBand && approval.sessionId === admitted.session.id;
  return isOpen ? requestIn(approval) : undefined;
}

/** Takes the answer of the attended client of a session. */
export async function answerInBand(
  parts: KernelParts,
  evidence: Evidence,
  asker: Asker,
  ref: string,
  client: InBandClient,
  answer: InBandAnswer,
): Promise<InBandOutcome> {
  const admitted = await admit(parts, evidence, asker);
  if (admitted.kind === "refused") return { kind: "unknown" };
  return parts.approvals.answerInBand(ref, admitted.session.id, client, answer);
}
