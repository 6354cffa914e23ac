/**
 * Executes the tool of a call until it ends or is cancelled.
 *
 * This is the only place where a tool is executed (choke point). The tool gets handles that do what scope and policy
 * decided.
 */
import { CANCEL_GRACE_MS } from "../base/limits.ts";
import { asStep } from "../base/long-steps.ts";
import type { Denial } from "../model/outcome/decision.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../model/outcome/failure.ts";
import type { ToolOutput } from "../model/tool/tool.ts";
import { followDeclared } from "./answer/follow.ts";
import type { Kernel } from "./answer/kernel.ts";
import { ProgressFeed } from "./answer/progress.ts";
import { invalidOutput } from "./answer/tool-output.ts";
import { brokenOff } from "./call/ended.ts";
import type { Running } from "./call/stages.ts";
import type { Waiter } from "./call/submission.ts";
import { CallHandles } from "./handles/call-handles.ts";
import { callRules } from "./handles/handle-parts.ts";

/** What came of running the tool: its output, its failure, or a refusal that only the machine could show. */
export type Ran =
  | { readonly kind: "output"; readonly output: ToolOutput }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "refusal"; readonly denial: Denial };

/** Runs the tool of a call with contained handles. Only bugs throw. */
export async function runTool(
  kernel: Kernel,
  running: Running,
  { signal, listener, transfer, inBand }: Waiter,
): Promise<Ran> {
  const { parts } = kernel;
  const { tool, intent, run } = running;
  if (signal.aborted) return cancelled();
  const feed = listener && new ProgressFeed(parts, listener, running);
  const rules = callRules(parts, running);
  const context = new CallHandles({
    kernel,
    running,
    rules,
    signal,
    report: feed?.report ?? nobodyListens,
    transfer,
    inBand,
  });
  if (listener && intent !== undefined) await followDeclared(kernel, running);
  run.begin(parts.clock.monotonicMs());
  try {
    const leave = intent === undefined ? undefined : await enterBranch(kernel, running);
    const executing = executed(running, context, leave);
    const output = executing instanceof Promise ? await untilCancelled(executing, signal) : executing;
    run.noteReturn();
    const invalid = invalidOutput(tool.name, output);
    if (invalid === undefined) return { kind: "output", output };
    // The tool may have changed something, but its result is unreadable: answer OUTCOME_UNKNOWN.
    return intent === undefined
      ? { kind: "refusal", denial: invalid }
      : { kind: "failure", failure: brokenOff("failed", invalid.message) };
  } catch (error) {
    if (error instanceof ToolFailure) {
      if (error.cause !== undefined) parts.onInternalError(error.cause);
      return { kind: "failure", failure: failureAfter(error, running) };
    }
    if (error instanceof Refusal) return { kind: "refusal", denial: error.denial };
    // it stopped between two steps, as it was asked to
    if (signal.aborted && error === signal.reason) return { kind: "failure", failure: failureAfter(STOPPED, running) };
    throw error;
  } finally {
    feed?.end();
  }
}

/** The branch that the call works on stays until the tool has ended. @returns what is done then */
async function enterBranch({ parts }: Kernel, { caller, tool, run }: Running): Promise<(() => void) | undefined> {
  return caller.branch && (await parts.branches?.enter(caller.branch, tool.name, run));
}

/** Runs the tool; one that was let go works on until it ends. */
function executed(
  { tool, args }: Running,
  context: CallHandles,
  leave: (() => void) | undefined,
): ToolOutput | Promise<ToolOutput> {
  const execute = () => asStep(`running ${tool.name}`, () => tool.execute(args, context));
  if (leave === undefined) return execute();
  return (async () => execute())().finally(leave);
}

/** A failure that invites to try again does so only while nothing was changed. */
function failureAfter(failure: ToolFailure, { run }: Running): ToolFailure {
  const isWithoutEffect = failure instanceof FailureWithoutEffect;
  if (run.changes.any) return isWithoutEffect || failure.retryable ? brokenOff("failed", failure.message) : failure;
  if (isWithoutEffect) run.noteNothingLeft();
  return failure;
}

function nobodyListens(): void {
  // A tool may always report; without a listener there is nobody to tell.
}

/** The running tool's result; after a cancellation it has a grace period to end by itself. */
async function untilCancelled<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(
        () =>
          reject(
            new ToolFailure(
              "OUTCOME_UNKNOWN",
              "the tool did not stop after it was cancelled",
              "check the state of the workspace before trying again",
            ),
          ),
        CANCEL_GRACE_MS,
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

const STOPPED = new FailureWithoutEffect(
  "CANCELLED",
  "the call was cancelled before it had changed anything",
  "send it again if it is still wanted",
);

function cancelled(): Ran {
  return {
    kind: "failure",
    failure: new ToolFailure(
      "CANCELLED",
      "the call was cancelled before it ran",
      "send it again if it is still wanted",
    ),
  };
}
