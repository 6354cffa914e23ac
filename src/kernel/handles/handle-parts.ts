/**
 * Defines the parts that the handles of a running tool are made of.
 *
 * They are the kernel, the call, how to judge what turns up while it runs, and how to ask again.
 */
import type { Verdict } from "../../model/outcome/decision.ts";
import type { ProgressListener } from "../../model/outcome/progress.ts";
import type { Kernel } from "../answer/kernel.ts";
import { recheck } from "../ask/recheck.ts";
import type { ArtifactJudge, PolicyJudge, TreeJudge } from "../call/judges.ts";
import type { KernelParts } from "../call/parts.ts";
import type { Granted, Running } from "../call/stages.ts";
import type { Waiter } from "../call/submission.ts";
import type { Transfer } from "../call/transfer.ts";
import {
  isContained,
  judgeArtifactBy,
  judgeByPolicy,
  judgeTreeByPolicy,
  type PolicyQuestion,
} from "../judge/decide.ts";
import { wholeCall } from "../judge/whole-call.ts";

/** What was decided about the call, and how to ask again. */
export interface CallRules {
  readonly judge: PolicyJudge;
  /** The same for the many files of a tree. */
  readonly judgeTree: TreeJudge;
  readonly judgeArtifact: ArtifactJudge;
  /** Whether the call may still run now; asked after every wait. */
  readonly recheck: () => Promise<Verdict<undefined>>;
}

/** What every handle is made of. */
export interface HandleParts {
  readonly kernel: Kernel;
  readonly running: Running;
  readonly rules: CallRules;
  readonly signal: AbortSignal;
  readonly report: ProgressListener;
  /** How a person who sits at the client can be asked while the call runs. */
  readonly inBand: Waiter["inBand"];
  /** What streams beside the call. */
  readonly transfer: Transfer | undefined;
}

/** The rules of a call. */
export function callRules(parts: KernelParts, granted: Granted): CallRules {
  const { policy, caller, tool, receivedAtMs: nowMs } = granted;
  const question = { policy, caller, tool, nowMs };
  return {
    judge: judgeByPolicy(question),
    judgeTree: judgeTreeByPolicy(question),
    judgeArtifact: judgeArtifactBy(question),
    recheck: () => recheck(parts, granted),
  };
}

/** What policy is asked about the files that a program of the call meets: permits for this very call hold. */
export function programQuestion({ policy, caller, tool, accesses, call, receivedAtMs }: Granted): PolicyQuestion {
  const whole = wholeCall(tool, accesses, call.arguments);
  return { policy, caller, tool, nowMs: receivedAtMs, call: whole, contained: isContained(caller, tool, accesses) };
}
