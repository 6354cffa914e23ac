/**
 * Decides whether the client that asks may answer a call itself, and defines its possible answers. Pure.
 *
 * Only people who sit at the client by the operator's own word count, and never for a call that deserves a second
 * channel.
 */

import type { ApprovalChannel } from "../model/approval/approval.ts";
import type { ShownRequest } from "../model/approval/approval-document.ts";
import type { Obligation } from "../model/outcome/decision.ts";
import type { Access } from "../model/place/access.ts";
import type { ToolCapability } from "../model/tool/capability.ts";
import type { AskPerson } from "../model/tool/person-question.ts";
import { mayWriteToRemote } from "./remote-writes.ts";

/** A client that shows requests to the person who sits there. */
export interface InBandClient {
  /** Its own word: the operator marks a client whose start they control. */
  readonly client: string;
  readonly channel: Extract<ApprovalChannel, "elicitation" | "multi_round_trip">;
}

/** What such a client shows. */
export interface InBandQuestion {
  readonly ref: string;
  readonly request: ShownRequest;
}

/**
 * What it said: a person agreed or refused, or closed the question without either (`cancel`), or the answer is none of
 * those that were to choose from (`malformed`).
 */
export type InBandAnswer =
  | { readonly kind: "approve"; readonly scope: "once" | "session" }
  | { readonly kind: "deny" }
  | { readonly kind: "cancel" }
  | { readonly kind: "malformed" };

/** How such a client is asked. */
export type InBandAsker =
  | (InBandClient & {
      readonly channel: "elicitation";
      /**
       * Asks while the call waits. Never rejects; `undefined`: nobody was asked, or nobody answered before `signal`
       * aborted.
       */
      readonly ask: (question: InBandQuestion, signal: AbortSignal) => Promise<InBandAnswer | undefined>;
      /** Shows a form that asks for no approval; an answer to it decides nothing of the kernel's. */
      readonly askForm?: AskPerson;
    })
  /** Asked between two rounds of the call, which ends meanwhile. */
  | (InBandClient & { readonly channel: "multi_round_trip" });

/** Tools whose effect outlives the workspace, whatever their analysis says. */
const NEVER_BY_NAME: ReadonlySet<string> = new Set(["git_push"]);

/**
 * Whether a call can be answered in band at all: nothing that needs arming, changes the machine, or may write to a
 * remote.
 */
export function mayBeAnsweredInBand(
  tool: { readonly name: string; readonly capability: Pick<ToolCapability, "effect"> },
  accesses: readonly Access[],
  obligations: readonly Obligation[],
): boolean {
  if (tool.capability.effect === "system" || obligations.includes("arm") || NEVER_BY_NAME.has(tool.name)) return false;
  return accesses.every(({ effect }) => effect !== "system") && !mayWriteToRemote(accesses);
}
