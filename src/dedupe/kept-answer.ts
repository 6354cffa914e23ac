/**
 * Decides which answers are kept for replay, and writes them down.
 *
 * The store's bytes are trusted no further than their shape.
 *
 * INVARIANT: an answer that was kept and read back prints the same bytes in every wire format.
 */
import { type KernelError, storeCorrupt } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { EffectClass } from "../model/outcome/effect.ts";
import { type Mark, markOf } from "../model/outcome/label.ts";
import type { CallResponse, Outcome } from "../model/tool/call.ts";
import type { KeptRecord } from "./dedupe-store.ts";

/** How far a call came. */
export interface Execution {
  readonly effect: EffectClass;
  /** The tool was started. */
  readonly ran: boolean;
  /** The tool returned, so that its effect stands. */
  readonly done: boolean;
  /** The tool failed, and whoever made it fail knows that nothing was changed. */
  readonly unaffected?: boolean;
}

/**
 * Whether the outcome is the call's answer for good. Denials and passing errors are not, so that an approval or a later
 * try is not shut out; nor is a read that was cancelled, or what failed without an effect, because it can be made
 * again. What is unknown stays unknown, and an effect that stands is not repeated because its result could not be
 * handed over.
 */
export function isKept(outcome: Outcome, { effect, ran, done, unaffected }: Execution): boolean {
  switch (outcome.kind) {
    case "success":
      return true;
    case "denied":
      return false;
    case "error":
      if (outcome.code === "OUTCOME_UNKNOWN") return true;
      if (done && effect !== "read") return true;
      if (unaffected === true) return false;
      if (outcome.code === "CANCELLED" && effect === "read") return false;
      return ran && !outcome.retryable;
  }
}

/** What is kept of a call that was executed. */
export interface KeptAnswer {
  readonly answer: CallResponse;
  /**
   * Names the rules by which everything was judged that the call touched while it ran; other rules may judge otherwise.
   */
  readonly basis: string;
  /** The mark of what the answer shows, as the tool's result had it; absent where it shows none. */
  readonly seen?: Mark;
  /** Sequence of the call's intent, as long as the evidence has to say whether it was executed. */
  readonly intent?: number;
}

/** The record of an answer: bytes that an outcome holds stand apart, in the order that `parts` names. */
export function encodeAnswer({ answer, ...more }: KeptAnswer): KeptRecord {
  const parts: [string, number][] = [];
  const blobs: Uint8Array[] = [];
  const outcome: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answer.outcome)) {
    if (value instanceof Uint8Array) {
      parts.push([name, value.byteLength]);
      blobs.push(value);
    } else outcome[name] = value;
  }
  const [only, ...others] = blobs;
  const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(blobs);
  return { text: JSON.stringify({ ...answer, outcome, parts, ...more }), bytes };
}

/**
 * The answer of a record.
 * @throws KernelError STORE_CORRUPT for a record that no answer has
 */
export function decodeAnswer(record: KeptRecord): KeptAnswer {
  const kept = parsed(record.text);
  const { parts, outcome, basis, seen, intent, ...rest } = kept;
  if (!Array.isArray(parts) || !isJsonObject(outcome)) throw corrupt();
  const whole: Record<string, unknown> = { ...outcome };
  let at = 0;
  for (const [name, length] of parts as readonly (readonly [string, number])[]) {
    if (at + length > record.bytes.byteLength) throw corrupt();
    whole[name] = record.bytes.subarray(at, at + length);
    at += length;
  }
  // An answer without a basis was kept by an older kernel: no rules of today are those.
  const answer = { ...rest, outcome: whole } as unknown as CallResponse;
  // One without a mark shows as much as its label says.
  const mark = markOf(seen) ?? markOf(outcome["label"]);
  const known = { answer, basis: typeof basis === "string" ? basis : "", ...(mark && { seen: mark }) };
  return typeof intent === "number" ? { ...known, intent } : known;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw corrupt(error);
  }
  throw corrupt();
}

function corrupt(cause?: unknown): KernelError {
  return storeCorrupt("an answer that was kept for replay cannot be read", cause);
}
