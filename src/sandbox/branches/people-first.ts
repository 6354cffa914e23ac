/**
 * Lets what people do with a branch come before agents' calls on it, in every kernel of a state directory.
 *
 * A person's act is noted beside the branch while it waits: calls do not begin there meanwhile, and a merge that waits
 * for somebody's answer is given up.
 */
import { setTimeout } from "node:timers/promises";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import type { Branch } from "../../model/place/branch.ts";
import { type BranchCallParts, BranchCalls } from "./branch-calls.ts";

/** How often it is looked again, and how often a person's act is tried. */
const PAUSE_MS = 250;
const TRIES_MAX = 40;

/** A merge that gives way, and what is done at its end. */
export interface GivingWay {
  /** Aborted once a person wants to do something with the branch. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

/** People's acts on the branches of one state directory. */
export class PeopleFirst {
  readonly #wishes: BranchCalls;

  constructor(parts: BranchCallParts) {
    this.#wishes = new BranchCalls(parts, "people");
  }

  /** Does a person's act, again and again while the branch is busy. @param onWait is told once that it has to wait */
  async act<Result>(branch: Branch, work: () => Promise<Result>, onWait: () => void): Promise<Result> {
    const leave = this.#wishes.note(branch.id, "person", {});
    try {
      for (let tries = 1; ; tries += 1)
        try {
          return await work();
        } catch (error) {
          if (tries >= TRIES_MAX || !isPassing(error)) throw error;
          if (tries === 1) onWait();
          await setTimeout(PAUSE_MS);
        }
    } finally {
      leave();
    }
  }

  /** @throws ToolFailure RESOURCE_BUSY while a person wants to do something with the branch */
  async requireNone(branch: Branch): Promise<void> {
    if (await this.#isWanted(branch.id)) throw personFirst(branch);
  }

  /** Looks whether a person wants the branch, until `end`. */
  watch(branch: Branch): GivingWay {
    const given = new AbortController();
    const ended = new AbortController();
    const look = async (): Promise<void> => {
      while (!ended.signal.aborted && !(await this.#isWanted(branch.id))) await pause(ended.signal);
      if (!ended.signal.aborted) given.abort(personFirst(branch));
    };
    look().catch((error: unknown) => given.abort(error));
    return { signal: given.signal, end: () => ended.abort() };
  }

  async #isWanted(branchId: string): Promise<boolean> {
    return (await this.#wishes.others(branchId)).length > 0;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(PAUSE_MS, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Whether it says that the branch may be free in a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof ToolFailure && error.code === "RESOURCE_BUSY" && error.retryable;
}

function personFirst({ name }: Branch): ToolFailure {
  return new FailureWithoutEffect("RESOURCE_BUSY", `a person is about to merge or drop the branch \`${name}\``, {
    suggestion: "leave it to that person, and look with `list_branches` what became of it",
    retryAfterMs: 10_000,
  });
}
