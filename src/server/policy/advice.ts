/** The shapes of advice: what a refused call would need, tried step by step. */
import type { Assumptions, CallExplanation, KernelDoor, KernelSettings } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { Authenticated } from "../../session/session.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";

/** What advice rests on. */
export interface AdviceParts {
  readonly door: Pick<KernelDoor, "explain">;
  readonly operator: OperatorDirectory;
  readonly settings: KernelSettings;
  readonly tools: readonly Tool[];
  /** Directories that no agent may see. */
  readonly hidden: readonly string[];
}

/** One change. */
export interface Advice {
  readonly kind: "permit" | "waiver" | "exception" | "example" | "lease" | "session" | "setting" | "trust" | "arming";
  /** What to do, for people. */
  readonly change: string;
  /** What to paste there. */
  readonly text?: string;
}

/** Why a call is decided as it is, and what would let it run. */
export interface AdvisedExplanation extends CallExplanation {
  /** Whether it would run as it is. */
  readonly runs: boolean;
  /** Changes that, all together, were tried and let it run. */
  readonly advice: readonly Advice[];
  /** Why nothing can be advised. */
  readonly stuck?: string;
  /** What else the operator should know about the workspace. */
  readonly notes: readonly string[];
}

/** What is assumed so far. */
export interface Assumed {
  readonly who: Authenticated;
  readonly assuming: Assumptions;
  /** Changes that are no policy. */
  readonly changes: readonly Advice[];
}

/** A further assumption, or why there is none. */
export type NextStep = Assumed | string;

/** A call that is explained. */
export interface ExplainedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}
