/** Asks whether a call may still go on, right before one of its handles touches something. */
import { KernelError } from "../../base/errors.ts";
import type { Denial } from "../../model/outcome/decision.ts";
import { Refusal, storeFailure } from "../../model/outcome/failure.ts";
import { preImagesNow } from "../ask/bind-ask.ts";
import { unusable } from "../call/unusable.ts";
import type { HandleParts } from "./handle-parts.ts";

/**
 * Ends the call unless it may still run, on what it was approved for. @throws Refusal, or ToolFailure when nobody can
 * say
 */
export async function requireAllowed(handle: HandleParts): Promise<void> {
  const denial = await recheckOrRefuse(handle);
  if (denial) throw new Refusal(denial);
  const { kernel, running, signal } = handle;
  await running.holdings.approval?.targets.requireAll(() => preImagesNow(kernel.parts, running, signal));
}

/** A re-check that cannot be made denies as well: the handle that asks has not touched anything yet. */
export async function recheckOrRefuse({ kernel, rules }: HandleParts): Promise<Denial | undefined> {
  try {
    const verdict = await rules.recheck();
    return verdict.ok ? undefined : verdict.denial;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    const failure = storeFailure(error);
    if (failure) throw failure;
    const denial = unusable(error);
    if (denial === undefined) throw error;
    kernel.parts.onInternalError(error);
    return denial;
  }
}
