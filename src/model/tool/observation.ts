/** Observations of calls: what is counted and timed, without anything that a caller chose. */
import type { EffectClass } from "../outcome/effect.ts";

/** Stages of the pipeline, in order. */
export const STAGES = ["read", "admit", "judge", "grant", "intent", "run", "answer"] as const;
/** One of them. */
export type Stage = (typeof STAGES)[number];

/** One call that was answered. */
export interface CallObservation {
  /** Name of a registered tool; absent where the call named none. */
  readonly tool?: string;
  readonly effect?: EffectClass;
  readonly outcome: "success" | "denied" | "error";
  /** Which layer refused it. */
  readonly layer?: string;
  /** Why it was refused or failed: a reason or a code of the kernel's. */
  readonly error?: string;
  /** Whether the tool was run. */
  readonly ran: boolean;
  /** Milliseconds. */
  readonly durationMs: number;
  /** Milliseconds of the stages that it came through. */
  readonly stages: Readonly<Partial<Record<Stage, number>>>;
}

/** Told of each call once it is answered; must not throw. */
export type CallObserver = (observation: CallObservation) => void;
