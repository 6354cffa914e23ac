/**
 * Asks a client for approval by a form while the call waits.
 *
 * Whether it is asked, and whether its answer counts, is the kernel's to decide. INVARIANT: a request that cannot be
 * shown in full is not asked at all.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { InBandAsker } from "../../../kernel/index.ts";
import type { PersonAnswer } from "../../../model/tool/person-question.ts";
import { answerIn, approvalForm } from "./approval-form.ts";
import type { QuestionEnd } from "./questions.ts";

/** How `client` is asked; `ask` shows it one form. */
export function formAsker(
  client: string,
  ask: (form: JsonObject, signal: AbortSignal) => Promise<QuestionEnd>,
): InBandAsker {
  return {
    client,
    channel: "elicitation",
    ask: async (question, signal) => {
      const form = approvalForm(question);
      const end = form && (await ask(form, signal));
      if (end?.kind === "answered") return answerIn(end.result);
      return end?.kind === "failed" ? { kind: "cancel" } : undefined;
    },
    askForm: async ({ message, schema: requestedSchema }, signal) => {
      const end = await ask({ message, requestedSchema }, signal);
      return end.kind === "answered" ? personAnswer(end.result) : { kind: "cancel" };
    },
  };
}

/** An answer that is none counts as nobody's. */
function personAnswer(result: unknown): PersonAnswer {
  const { action, content } = isJsonObject(result) ? result : ({} as JsonObject);
  if (action === "accept" && isJsonObject(content)) return { kind: "accept", content };
  return { kind: action === "decline" ? "decline" : "cancel" };
}

/** An answer to nothing that is asked just now. */
export const UNASKED = {
  layer: "approval",
  reason: "tool_approval_invalid",
  ruleId: "APPROVAL:unasked",
  message: "an answer came to a question that is not open: it was answered or withdrawn before, or never asked",
} as const;
