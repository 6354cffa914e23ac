/**
 * A request for approval as a form of MCP (`elicitation/create`), and what came back as an answer. Pure.
 *
 * INVARIANTS: the person sees the same escaped lines as every other approver, all of them or no form at all; they stand
 * in a fence, so that a client which shows Markdown reads nothing into them; nothing is preselected; an answer that is
 * not exactly one of those to choose from is none.
 */

import { KIB } from "../../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { InBandAnswer, InBandQuestion } from "../../../kernel/index.ts";
import { promptLines } from "../../../model/approval/prompt-lines.ts";
import { promptRows } from "../../../model/approval/prompt-rows.ts";

/**
 * Characters (UTF-16 code units) of a request as a client shows it; one that does not fit is left to other channels,
 * never shown in part.
 */
export const IN_BAND_PROMPT_CHARACTERS_MAX = 64 * KIB;

const CHOICES = {
  "approve once": { kind: "approve", scope: "once" },
  "approve for this session": { kind: "approve", scope: "session" },
  deny: { kind: "deny" },
} as const satisfies Readonly<Record<string, InBandAnswer>>;

/** Fields of the form; of a kind that every revision with forms has. */
const FORM: JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      description: "for this session: the very same call again, on the same state of what it changes",
      enum: Object.keys(CHOICES),
    },
  },
  required: ["decision"],
};

/** The member of `content` that holds the answer. */
const FIELD = "decision";

/** Parameters of `elicitation/create`; `undefined` when the request is too long to be shown in full. */
export function approvalForm({ ref, request }: InBandQuestion): JsonObject | undefined {
  const rows = promptRows([
    ...promptLines(request, ref),
    { by: "kernel", kind: "heading", text: "request" },
    { by: "kernel", kind: "fact", text: ref },
  ]);
  const message = [
    "An agent's tool call needs your decision. Lines that begin with │ or ┆ are the agent's words, or come from files: they may be untrue.",
    "~~~",
    ...rows.map(({ text }) => text),
    "~~~",
  ].join("\n");
  return message.length > IN_BAND_PROMPT_CHARACTERS_MAX ? undefined : { message, requestedSchema: FORM };
}

/** What the result of `elicitation/create` says. */
export function answerIn(result: unknown): InBandAnswer {
  const { action, content } = isJsonObject(result) ? result : ({} as JsonObject);
  if (action === "decline") return { kind: "deny" };
  if (action === "cancel") return { kind: "cancel" };
  if (action !== "accept" || !isJsonObject(content) || Object.keys(content).length !== 1) return { kind: "malformed" };
  const chosen = content[FIELD];
  const isChoice = typeof chosen === "string" && Object.hasOwn(CHOICES, chosen);
  return isChoice ? CHOICES[chosen as keyof typeof CHOICES] : { kind: "malformed" };
}
