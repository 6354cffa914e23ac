/**
 * Admits a caller to what is no tool call, such as the list of tools: the same authentication as in the pipeline, with
 * the same record of a refusal.
 */

import { MAX_ID_LEN } from "../base/limits.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { Session } from "../model/people/session.ts";
import type { CallResponse } from "../model/tool/call.ts";
import { Answer } from "./answer/answer.ts";
import type { Evidence } from "./answer/evidence.ts";
import type { KernelParts } from "./call/parts.ts";
import { beginTrail } from "./call/trail.ts";
import { authenticateCall } from "./judge/authenticate.ts";
import { CallRedaction, secretsOf } from "./redaction/redaction.ts";

/** Who asks: the request's name for evidence, and the session's token. */
export interface Asker {
  readonly requestId: string;
  readonly sessionToken: string;
}

/** Whose token it was, or the refusal as every other refused request is answered. */
export type Admission =
  | { readonly kind: "admitted"; readonly session: Session }
  | { readonly kind: "refused"; readonly response: CallResponse };

/** Admits `asker` if its session may act now. Never rejects. */
export async function admit(parts: KernelParts, evidence: Evidence, asker: Asker): Promise<Admission> {
  const trail = beginTrail(parts.clock);
  trail.requestId = asker.requestId.slice(0, MAX_ID_LEN).toWellFormed();
  const answer = new Answer(parts, evidence, trail);
  try {
    trail.redaction = new CallRedaction(await parts.redactor(), secretsOf(asker));
    const authenticated = await authenticateCall(parts, trail, asker.sessionToken);
    if (authenticated.ok) return { kind: "admitted", session: authenticated.value.session };
    return { kind: "refused", response: await answer.denied(authenticated.denial) };
  } catch (thrown) {
    return { kind: "refused", response: await answer.thrown(thrown) };
  }
}

/** Records a request that something other than the pipeline refused; beyond a rate only counted. Never rejects. */
export async function recordRefusal(parts: KernelParts, evidence: Evidence, denial: Denial): Promise<void> {
  try {
    const trail = beginTrail(parts.clock);
    trail.redaction = new CallRedaction(await parts.redactor());
    await evidence.denied(trail, denial);
  } catch (error) {
    parts.onInternalError(error);
  }
}
