/**
 * A call as observers see it once it was answered: names, sizes, times and outcome, never content.
 *
 * Metrics, traces and logs are made from it. INVARIANT: it holds no argument, output, path or message; the name of a
 * tool is that of a registered one, so that callers cannot choose it.
 */

import type { Layer } from "./decision.ts";
import type { EffectClass } from "./effect.ts";
import type { ToolFailureCode } from "./failure.ts";

/** The stages of the pipeline, in their order. */
export const CALL_STAGES = [
  "decode",
  "gate",
  "authenticate",
  "understand",
  "analyse",
  "scope",
  "policy",
  "flow",
  "dedupe",
  "rate",
  "arming",
  "approval",
  "turn",
  "budget",
  "intent",
  "recheck",
  "execute",
  "finish",
  "record",
] as const;
/** One stage. */
export type CallStage = (typeof CALL_STAGES)[number];

/** The time that a call spent in a stage. */
export interface ObservedStage {
  readonly stage: CallStage;
  /** Milliseconds since the call came. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** A command that a call ran. */
export interface ObservedCommand {
  /** What contained it: `bwrap`, `container`, `none`. */
  readonly backend: string;
  /** What ended it from outside, such as `timeout` or `memory`. */
  readonly endedBy?: string;
  readonly durationMs: number;
}

/** A call that was answered. */
export interface ObservedCall {
  readonly requestId: string;
  /** Absent where no tool of that name is registered. */
  readonly tool?: string;
  readonly effect?: EffectClass;
  readonly outcome: "success" | "denied" | "error" | "replayed";
  /** Of a refusal. */
  readonly denial?: { readonly layer: Layer; readonly reason: string; readonly ruleId: string };
  /** Of a failure. */
  readonly errorCode?: ToolFailureCode;
  /** The permits by which it was allowed. */
  readonly rules: readonly string[];
  readonly sessionId?: string;
  readonly role?: string;
  readonly preset?: string;
  /** Wall time at which it came, in milliseconds since the Unix epoch. */
  readonly receivedAtMs: number;
  readonly durationMs: number;
  readonly stages: readonly ObservedStage[];
  /** Whether its tool was started. */
  readonly hasRun: boolean;
  readonly outputBytes?: number;
  readonly truncated: boolean;
  readonly secretsFound: number;
  readonly commands: readonly ObservedCommand[];
  /** Sequence of its entry in the ledger, where it has one already. */
  readonly ledgerSequence?: number;
  /** What the caller sent as its place in a trace, unread. */
  readonly traceparent?: unknown;
}

/** Hears of each call once it was answered. It is called on the call's way: it must be quick, and never wait. */
export type CallObserver = (call: ObservedCall) => void;
