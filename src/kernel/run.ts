/**
 * The only place where a tool is executed (choke point): with handles that do what scope and policy decided, until it ends
 * or is cancelled.
 */
import { assert } from "../base/errors.ts";
import { CANCEL_GRACE_MS } from "../base/limits.ts";
import { asStep } from "../base/long-steps.ts";
import type { Denial } from "../model/outcome/decision.ts";
import { FailureWithoutEffect, Refusal, ToolFailure } from "../model/outcome/failure.ts";
import type { ToolOutput } from "../model/tool/tool.ts";
import type { Evidence } from "./answer/evidence.ts";
import { followDeclared } from "./answer/follow.ts";
import { ProgressFeed } from "./answer/progress.ts";
import { invalidOutput } from "./answer/tool-output.ts";
import { brokenOff } from "./call/broken-off.ts";
import type { KernelParts } from "./call/parts.ts";
import type { Waiter } from "./call/submission.ts";
import type { Trail } from "./call/trail.ts";
import { CallHandles } from "./handles/call-handles.ts";
import type { CallRules } from "./handles/call-rules.ts";

/** What came of running the tool: its output, its failure, or a refusal that only the machine could show. */
export type Ran =
  | { readonly kind: "output"; readonly output: ToolOutput }
  | { readonly kind: "failure"; readonly failure: ToolFailure }
  | { readonly kind: "refusal"; readonly denial: Denial };

/** Runs the tool of `trail` with contained handles. Only bugs throw. */
export async function runTool(parts: KernelParts, evidence: Evidence, trail: Trail, rules: CallRules, waiter: Waiter): Promise<Ran> {
  const { signal, listener } = waiter;
  assert(trail.tool && trail.call && trail.caller && trail.redaction, "a tool runs only after every stage before it");
  if (signal.aborted) return cancelled();
  const feed = listener && new ProgressFeed(parts, listener, trail.redaction, trail.intent !== undefined);
  const context = new CallHandles(parts, evidence, trail, rules, waiter, feed?.report ?? nobodyListens);
  if (listener && trail.intent !== undefined) await followDeclared(parts, evidence, trail);
  trail.ran = true;
  try {
    const { tool, args } = trail;
    const running = asStep(`running ${tool.name}`, () => tool.execute(args, context));
    const output = running instanceof Promise ? await untilCancelled(running, signal) : running;
    trail.done = true;
    const invalid = invalidOutput(trail.tool.name, output);
    if (invalid === undefined) return { kind: "output", output };
    // What an effect left behind, nobody can say who cannot read what came of it.
    return trail.intent === undefined
      ? { kind: "refusal", denial: invalid }
      : { kind: "failure", failure: brokenOff("failed", invalid.message) };
  } catch (error) {
    if (error instanceof ToolFailure) {
      if (error.cause !== undefined) parts.onInternalError(error.cause);
      return { kind: "failure", failure: failureOf(error, trail) };
    }
    if (error instanceof Refusal) return { kind: "refusal", denial: error.denial };
    throw error;
  } finally {
    feed?.end();
  }
}

/** A failure that invites to try again does so only while nothing was changed. */
function failureOf(failure: ToolFailure, trail: Trail): ToolFailure {
  const isWithoutEffect = failure instanceof FailureWithoutEffect;
  if (trail.changes.any) return isWithoutEffect || failure.retryable ? brokenOff("failed", failure.message) : failure;
  if (isWithoutEffect) trail.unaffected = true;
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

function cancelled(): Ran {
  return {
    kind: "failure",
    failure: new ToolFailure("CANCELLED", "the call was cancelled before it ran", "send it again if it is still wanted"),
  };
}
