/** What every handle of a running tool is made of. */
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { Kernel } from "../answer/kernel.ts";
import type { Running } from "../call/stages.ts";
import type { Transfer } from "../call/transfer.ts";
import type { CallRules } from "./call-rules.ts";

/** A kernel, a running call, and what was decided about it. */
export interface HandleParts {
  readonly kernel: Kernel;
  readonly running: Running;
  readonly rules: CallRules;
  readonly signal: AbortSignal;
  readonly report: ProgressListener;
  /** What streams beside the call. */
  readonly transfer: Transfer | undefined;
}
