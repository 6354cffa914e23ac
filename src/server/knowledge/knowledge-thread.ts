/**
 * Asks the thread that keeps the index of one workspace.
 *
 * INVARIANT: whatever happens to the thread, each request is answered or fails once; a new thread serves later ones.
 */
import { Worker } from "node:worker_threads";
import { usageError } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import type { KnowledgeAnswers, KnowledgeRequest, NumberedAnswer, NumberedRequest } from "./knowledge-messages.ts";

/** Mebibytes of the thread's heap: for what lives long, and for what does not. Garbage is left to grow up to them. */
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The thread of one index; started with the first request. */
export class KnowledgeThread {
  readonly #directory: string;
  readonly #onRemade: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextId = 1;

  /** @param directory where the index lies @param onRemade called when it was damaged, and is empty now */
  constructor(directory: string, onRemade: () => void) {
    this.#directory = directory;
    this.#onRemade = onRemade;
  }

  /** Asks. @throws ToolFailure when the index cannot be used now */
  ask<Kind extends KnowledgeRequest["kind"]>(
    request: Extract<KnowledgeRequest, { readonly kind: Kind }>,
  ): Promise<KnowledgeAnswers[Kind]> {
    const worker = this.#started();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
      worker.ref();
      worker.postMessage({ id, request } satisfies NumberedRequest);
    });
  }

  /** Closes the index and ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    await this.ask({ kind: "close" }).catch(() => undefined); // one that is gone has closed it
    this.#worker = undefined;
    await worker.terminate();
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(ownProgram(import.meta.url, "./knowledge-worker.ts"), {
      workerData: { directory: this.#directory },
      resourceLimits: HEAP,
    });
    worker.unref();
    worker.on("message", (answer: NumberedAnswer) => this.#answered(worker, answer));
    worker.on("error", (error: Error) => this.#lost(worker, error.message));
    worker.on("exit", () => this.#lost(worker, "its thread ended"));
    this.#worker = worker;
    return worker;
  }

  #answered(worker: Worker, answer: NumberedAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) worker.unref();
    if ("problem" in answer && answer.isRemade) this.#onRemade();
    if ("problem" in answer) waiting?.reject(answer.isUsage ? usageError(answer.problem) : unusable(answer.problem));
    else waiting?.resolve(answer.answer);
  }

  #lost(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of lost) reject(unusable(problem));
  }
}

function unusable(problem: string): ToolFailure {
  return new ToolFailure("STORE_UNAVAILABLE", `the workspace's index cannot be used now: ${problem}`, {
    suggestion: "search with `search_file`, or try again; if it stays so, tell the operator",
    retryAfterMs: 1000,
  });
}
