/**
 * Admits a caller to a request that is no tool call, such as the list of tools.
 *
 * The authentication is the pipeline's own, and so is the record of a refusal.
 */

import { MAX_ID_LEN } from "../base/limits.ts";
import type { Denial } from "../model/outcome/decision.ts";
import type { Session } from "../model/people/session.ts";
import type { CallResponse } from "../model/tool/call.ts";
import { Answer } from "./answer/answer.ts";
import type { Kernel } from "./answer/kernel.ts";
import { arrive, type Known } from "./call/stages.ts";
import { authenticateCall } from "./judge/authenticate.ts";
import { CallRedaction } from "./redaction/redaction.ts";

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
export async function admit(kernel: Kernel, asker: Asker): Promise<Admission> {
  const { parts } = kernel;
  const answer = new Answer(kernel);
  let known: Known = { ...arrive(parts.clock), requestId: asker.requestId.slice(0, MAX_ID_LEN).toWellFormed() };
  try {
    known = {
      ...known,
      redaction: new CallRedaction(await parts.redactor(), parts.sessionSecrets.of(asker.sessionToken)),
    };
    const running = {
      belongsTo(session: Session) {
        known = { ...known, session };
      },
    };
    const shown = { token: asker.sessionToken, atMs: known.receivedAtMs, running };
    const authenticated = await authenticateCall(parts, shown);
    if (authenticated.ok) return { kind: "admitted", session: authenticated.value.session };
    known = { ...known, session: authenticated.session ?? known.session };
    return { kind: "refused", response: await answer.denied(known, authenticated.denial) };
  } catch (thrown) {
    return { kind: "refused", response: await answer.thrown(known, thrown) };
  }
}

/** Records a request that something other than the pipeline refused; beyond a rate only counted. Never rejects. */
export async function recordRefusal({ parts, evidence }: Kernel, denial: Denial): Promise<void> {
  try {
    await evidence.denied({ ...arrive(parts.clock), redaction: new CallRedaction(await parts.redactor()) }, denial);
  } catch (error) {
    parts.onInternalError(error);
  }
}
