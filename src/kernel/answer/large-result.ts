/**
 * Results that are larger than an answer: stored under their hash, redacted, and named in the answer (CTR-0024).
 *
 * INVARIANT: the reference of the ledger's entry is stored with the content, before the entry is written, so that no
 * entry ever names content that a collection may take. INVARIANT: memory is bounded whatever the size of a stream is.
 */

import { KernelError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { SHOWN_BYTES_MAX } from "../../base/limits.ts";
import { unread } from "../../cas/bounded-chunks.ts";
import type { StagedContent } from "../../cas/content-store.ts";
import { preview } from "../../cas/preview.ts";
import type { LabelledResult } from "../../flow/labels.ts";
import { storeFailure, ToolFailure } from "../../model/outcome/failure.ts";
import type { Label, Mark } from "../../model/outcome/label.ts";
import type { Outcome } from "../../model/tool/call.ts";
import type { Window } from "../../model/tool/tool.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Running } from "../call/stages.ts";
import type { CallRedaction } from "../redaction/redaction.ts";

/** A result that may leave, and the facts about it that evidence keeps. */
export interface CleanResult {
  readonly outcome: Extract<Outcome, { kind: "success" }>;
  /** What the caller will have seen by it. */
  readonly seen: Mark;
  readonly secretsFound: number;
  readonly outputBytes: number;
}

/** A result that may leave, or why it could not be kept. */
export type Finished = CleanResult | ToolFailure;

/** What storing results needs. */
export type ResultParts = Pick<KernelParts, "content" | "clock" | "onInternalError" | "sessionSecrets">;

/** Where results are stored, and the call that they are of. */
export interface ResultKeeper {
  readonly parts: ResultParts;
  readonly running: Running;
}

/** The label of a result, and how many secrets were hidden in it. */
export interface ResultFacts extends LabelledResult {
  readonly secretsFound: number;
}

/** Stores bytes that a caller takes raw. */
export async function keepBytes(
  keeper: ResultKeeper,
  bytes: Uint8Array,
  { label, seen, secretsFound }: ResultFacts,
): Promise<Finished> {
  const stored = await keep(keeper, { chunks: once(bytes), label: () => storedLabel(label, seen), signal: NEVER });
  if (stored instanceof ToolFailure) return stored;
  return {
    outcome: { kind: "success", data: named(stored), stored, label, truncated: false },
    seen,
    secretsFound,
    outputBytes: bytes.byteLength,
  };
}

/** Stores the printed data of a result, and shows its beginning. */
export async function keepText(
  keeper: ResultKeeper,
  text: string,
  { label, seen, secretsFound }: ResultFacts,
): Promise<Finished> {
  const stored = await keep(keeper, {
    chunks: once(Buffer.from(text)),
    label: () => storedLabel(label, seen),
    signal: NEVER,
  });
  if (stored instanceof ToolFailure) return stored;
  const shown = preview(text, SHOWN_BYTES_MAX);
  const data = { ...named(stored), preview: shown, rest: wayToTheRest(stored.hash, Buffer.byteLength(shown)) };
  return {
    outcome: { kind: "success", data, stored, label, truncated: true },
    seen,
    secretsFound,
    outputBytes: stored.sizeBytes,
  };
}

/** What to take out of a stream, and how to label what is left once that is known. */
export interface StreamRules {
  readonly redaction: CallRedaction;
  readonly window: Window | undefined;
  readonly labelled: () => LabelledResult;
  readonly signal: AbortSignal;
}

/** Stores a result that never stands in memory as a whole. */
export async function keepStream(
  keeper: ResultKeeper,
  chunks: AsyncIterable<Uint8Array>,
  { redaction, window, labelled, signal }: StreamRules,
): Promise<Finished> {
  const storedAs = () => {
    const { label, seen } = labelled();
    return storedLabel(label, seen);
  };
  const stored = await keep(keeper, { chunks: redacted(chunks, redaction, window), label: storedAs, signal }).finally(
    () => unread(chunks),
  );
  if (stored instanceof ToolFailure) return stored;
  const { label, seen } = labelled();
  const { definite, probable } = redaction.found;
  return {
    outcome: { kind: "success", data: named(stored), stored, label, truncated: false },
    seen,
    secretsFound: definite + probable,
    outputBytes: stored.sizeBytes,
  };
}

/** What is stored has no secrets any more: whoever fetches it sees what the caller of now sees, and no more. */
function storedLabel(label: Label, { trustLevel, dataClass }: Mark): Label {
  return { ...label, trustLevel, dataClass };
}

/** What is already there when a call has done its work is stored even if nobody waits any more. */
const NEVER = new AbortController().signal;

type Stored = NonNullable<CleanResult["outcome"]["stored"]>;

interface Kept {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly label: () => Label;
  readonly signal: AbortSignal;
}

async function keep(keeper: ResultKeeper, { chunks, label, signal }: Kept): Promise<Stored | ToolFailure> {
  const { parts, running } = keeper;
  let staged: StagedContent | undefined;
  try {
    staged = await parts.content.stage(chunks, {}, signal);
    const { hash, sizeBytes } = await staged.commit({
      ...holdingOf(running),
      label: label(),
      nowMs: parts.clock.nowMs(),
    });
    return { hash, sizeBytes };
  } catch (error) {
    return notKept(keeper, error);
  } finally {
    await staged?.discard();
  }
}

function holdingOf({
  session,
  requestId,
}: Running): Pick<Parameters<StagedContent["commit"]>[0], "owner" | "reference"> {
  return {
    owner: { userId: session.userId, workspace: session.serviceRoot },
    reference: { sessionId: session.id, requestId },
  };
}

/**
 * A large result that cannot be stored cannot be answered. What the call did stands all the same, and the answer says
 * so.
 */
function notKept({ parts, running }: ResultKeeper, error: unknown): ToolFailure {
  if (error instanceof ToolFailure && error.code === "CANCELLED") return error;
  const known = error instanceof ToolFailure || (error instanceof KernelError && storeFailure(error) !== undefined);
  if (!known) throw error;
  parts.onInternalError(error);
  if (error instanceof ToolFailure && error.code === "RESOURCE_BUSY" && running.intent === undefined) return tooBusy();
  const did = running.intent === undefined ? "" : "the call took effect, but ";
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `${did}its result is too large for an answer and could not be stored`,
    "ask for a part of it, for instance with offset and limit; tell the operator if it goes on",
  );
}

/** Nothing happened, and there will be room: the call may simply be made again. */
function tooBusy(): ToolFailure {
  const message = "the result is too large for an answer, and too many are being stored at once";
  return new ToolFailure("RESOURCE_BUSY", message, {
    suggestion: "try again in a moment, or ask for a part of it",
    retryAfterMs: 1000,
  });
}

function named({ hash, sizeBytes }: Stored): JsonObject {
  return { content_hash: hash, size: sizeBytes };
}

function wayToTheRest(hash: string, offset: number): JsonObject {
  return { tool: "artifact_fetch", arguments: { content_hash: hash, offset, limit: SHOWN_BYTES_MAX } };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* redacted(
  chunks: AsyncIterable<Uint8Array>,
  redaction: CallRedaction,
  window: Window | undefined,
): AsyncGenerator<Uint8Array> {
  const stream = redaction.byteStream(window);
  for await (const chunk of chunks) yield stream.push(chunk);
  yield stream.end();
  redaction.takeCounts(stream.counts);
}
