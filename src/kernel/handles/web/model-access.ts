/**
 * Asks models for a call: with content that analysis named, at a provider that the operator names.
 *
 * INVARIANTS: what is sent was looked at as what leaves: its labels stand in the mark that was judged, and no definite
 * secret is in it. No token is asked for that is not reserved, where anything limits them. The completion is stored
 * without secrets. Each try is in the ledger before the call is answered.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { KIB, MIB, textOf } from "../../../base/bytes.ts";
import { CARRIED } from "../../../flow/flow.ts";
import type { Denial } from "../../../model/outcome/decision.ts";
import { Refusal, ToolFailure } from "../../../model/outcome/failure.ts";
import { combineLabels, covers, type Label } from "../../../model/outcome/label.ts";
import {
  costOf,
  type ModelAccess,
  type ModelAnswer,
  type ModelProvider,
  type ModelRequest,
  priceOf,
} from "../../../model/reach/models.ts";
import type { CompletionRequest } from "../../../sandbox/net/models/completion.ts";
import { type Completion, CompletionFailed } from "../../../sandbox/net/models/model-caller.ts";
import { contentUnreadable } from "../../judge/content/sent-content.ts";
import { unanalysedModel } from "../../judge/scope.ts";
import type { CallRedaction } from "../../redaction/redaction.ts";
import { createContentAccess, storeOwn } from "../content-access.ts";
import type { HandleParts } from "../handle-parts.ts";
import { requireAllowed } from "../still-allowed.ts";
import { misplaced } from "./misplaced.ts";

/** Bytes of a prompt. */
const PROMPT_BYTES_MAX = 8 * MIB;
/** Tokens that a request has beside those of its texts: roles, and where they begin and end. */
const FRAME_TOKENS = 64;

/** Models for one call. */
export function createModelAccess(handle: HandleParts): ModelAccess {
  return { complete: (request) => complete(handle, request) };
}

async function complete(handle: HandleParts, request: ModelRequest): Promise<ModelAnswer> {
  const { running } = handle;
  running.holdings.payment?.spending?.notePaid(false);
  const provider = requireProvider(handle, request);
  await requireAllowed(handle);
  const prompt = await sentText(handle, request.promptHash);
  const system = request.systemPromptHash === undefined ? undefined : await sentText(handle, request.systemPromptHash);
  await reserve(handle, provider, { request, promptBytes: prompt.bytes + (system?.bytes ?? 0) });
  const completion = await asked(handle, provider, {
    model: request.model,
    prompt: prompt.text,
    ...(system && { system: system.text }),
    maxTokens: request.maxTokens,
    ...(request.temperature !== undefined && { temperature: request.temperature }),
  });
  const label = system === undefined ? prompt.label : combineLabels(prompt.label, system.label);
  const price = priceOf(provider, request.model);
  const { usage } = completion;
  const text = await withoutSecrets(running.redaction, completion.text);
  const stored = await storeOwn(handle, Buffer.from(text), label);
  return {
    completion: text,
    completionHash: stored.hash,
    finish: completion.finish,
    ...(usage && { usage }),
    ...(usage && price && { costMicros: costOf(price, usage) }),
    notes: completion.notes,
    label,
  };
}

/** The provider that the call was judged for. @throws Refusal */
function requireProvider({ kernel, running }: HandleParts, { provider, model }: ModelRequest): ModelProvider {
  const isNamed = running.accesses.some(
    ({ resource: one }) => one.kind === "model" && one.provider === provider && one.model === model,
  );
  const found = isNamed ? kernel.parts.models.provider(provider) : undefined;
  if (found === undefined) throw new Refusal(unanalysedModel(running.tool.name, `${provider}/${model}`));
  return found;
}

interface SentText {
  readonly text: string;
  readonly bytes: number;
  readonly label: Label;
}

/** A text that is sent. @throws Refusal where it is not there, is no text, or must not leave */
async function sentText(handle: HandleParts, hash: string): Promise<SentText> {
  const { running } = handle;
  const content = createContentAccess(handle);
  const found = await content.find({ kind: "content", hash }).catch((error: unknown) => {
    throw error instanceof ToolFailure && error.code === "CONTENT_NOT_FOUND" ? contentUnreadable(hash) : error;
  });
  if (found.sizeBytes > PROMPT_BYTES_MAX)
    throw new ToolFailure("CONTENT_TOO_LARGE", `a prompt has at most ${PROMPT_BYTES_MAX} bytes`, "send less at once");
  const bytes = await content.read(found, { offset: 0, length: found.sizeBytes });
  const text = textOf(bytes);
  if (text === undefined) throw contentUnreadable(hash, "is no text");
  if (!covers(running.caller.mark, found.label)) throw new Refusal(LABEL_CHANGED);
  if (await holdsSecret(running.redaction, bytes)) throw new Refusal(CARRIED);
  return { text, bytes: bytes.byteLength, label: found.label };
}

/** Bytes that are looked through before others have their turn. */
const LOOKED_AT_BYTES = 64 * KIB;

/** Whether a definite secret stands in `bytes`, long ones in steps. */
async function holdsSecret(redaction: CallRedaction, bytes: Uint8Array): Promise<boolean> {
  const stream = redaction.byteStream();
  for (let from = 0; from < bytes.byteLength; from += LOOKED_AT_BYTES) {
    if (from > 0) await nextTurn();
    stream.push(bytes.subarray(from, from + LOOKED_AT_BYTES));
  }
  stream.end();
  return [...stream.counts.values()].some(({ definite }) => definite > 0);
}

/** A text without its secrets, a long one in steps. */
async function withoutSecrets(redaction: CallRedaction, text: string): Promise<string> {
  if (text.length <= LOOKED_AT_BYTES) return redaction.text(text);
  const [bytes, stream] = [Buffer.from(text), redaction.byteStream()];
  const clean: Uint8Array[] = [];
  for (let from = 0; from < bytes.byteLength; from += LOOKED_AT_BYTES) {
    if (from > 0) await nextTurn();
    clean.push(stream.push(bytes.subarray(from, from + LOOKED_AT_BYTES)));
  }
  clean.push(stream.end());
  redaction.takeCounts(stream.counts);
  return Buffer.concat(clean).toString();
}

const LABEL_CHANGED: Denial = {
  layer: "flow",
  reason: "flow_sensitive_egress",
  ruleId: "FC-2",
  message: "what is known of the prompt changed while the call waited; send it again",
};

/** A text has no more tokens than bytes. @throws Refusal where that much is not left, or cannot be counted */
async function reserve(
  { running }: HandleParts,
  provider: ModelProvider,
  { request, promptBytes }: { readonly request: ModelRequest; readonly promptBytes: number },
): Promise<void> {
  const spending = running.holdings.payment?.spending;
  if (spending === undefined) return;
  const price = priceOf(provider, request.model);
  if (price === undefined && spending.limits("costMicros")) throw new Refusal(unpriced(provider.name, request.model));
  const tokens = promptBytes + FRAME_TOKENS;
  const denial = await spending.reserveMore({ tokens, costMicros: tokens * (price?.input ?? 0) });
  if (denial !== undefined) throw new Refusal(denial);
}

function unpriced(provider: string, model: string): Denial {
  return {
    layer: "budget",
    reason: "budget_exceeded",
    ruleId: "LIMITS:price",
    message: `costs are limited here, and the operator names no price for \`${model}\` of \`${provider}\`; ask another model`,
    fix: `a price of \`${model}\` under \`models.${provider}.prices\` in handrail.yaml`,
  };
}

/** The completion; what was not counted by anybody is given back where none came. */
async function asked(handle: HandleParts, provider: ModelProvider, request: CompletionRequest): Promise<Completion> {
  const { kernel, running, report, signal } = handle;
  const recorded: Promise<unknown>[] = [];
  const caller = await kernel.parts.models.open();
  const { spending } = running.holdings.payment ?? {};
  try {
    spending?.notePaid(true);
    return await caller.complete(provider, request, {
      judge: () => requireAllowed(handle),
      record(attempt) {
        const writing = kernel.evidence.networkAttempt(running, attempt);
        writing.catch(() => undefined); // whoever waits for all of them is told
        recorded.push(writing);
      },
      broker: kernel.parts.secrets.brokerBy(running.redaction.by),
      signal,
      onText: (text) => report({ kind: "output", stream: "stdout", bytes: Buffer.from(text) }),
    });
  } catch (error) {
    if (!(error instanceof CompletionFailed)) throw error;
    if (!error.mayHaveCost) spending?.notePaid(false);
    throw misplaced(error.cause);
  } finally {
    await Promise.all(recorded);
  }
}
