/**
 * Runs the reading of pages in a thread of its own, one page after the other.
 *
 * A page can be made so that reading it takes long: then the thread is ended, and the call told. INVARIANT: whatever a
 * page holds, the thread of the kernel does not stand, and memory is bounded.
 */
import { Worker } from "node:worker_threads";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import { ownProgram } from "../../../names/own-program.ts";
import type { PageText, ReadPage } from "./page-worker.ts";

/** Milliseconds that reading one page may take; the thread's start is part of it. */
const PAGE_MS = 20_000;
/** Milliseconds without work after which the thread is ended. */
const PAGE_IDLE_MS = 30_000;
/** Mebibytes of heap. */
const PAGE_HEAP_MIB = 256;

/** Reads pages. */
export class PageReader {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  /** What a person would read of `page`. @throws ToolFailure TIMEOUT, or OUTPUT_LIMIT where it needs too much memory */
  read(page: ReadPage, signal: AbortSignal): Promise<PageText> {
    const read = this.#last.then(() => this.#one(page, signal));
    this.#last = read.catch(() => undefined); // whoever asked is told
    return read;
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#end();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #one(page: ReadPage, signal: AbortSignal): Promise<PageText> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#worker ??= started();
    const worker = this.#worker;
    const { promise, resolve, reject } = Promise.withResolvers<PageText>();
    const late = AbortSignal.any([signal, AbortSignal.timeout(PAGE_MS)]);
    const give = (answer: PageText | { readonly problem: string }) =>
      "problem" in answer ? reject(unreadable(answer.problem)) : resolve(answer);
    const broken = () => reject(tooLarge());
    const stop = () => reject(tooLong());
    worker.on("message", give).on("error", broken);
    late.addEventListener("abort", stop, { once: true });
    worker.postMessage(page);
    try {
      const text = await promise;
      this.#idle = setTimeout(() => void this.#end(), PAGE_IDLE_MS).unref();
      return text;
    } catch (error) {
      await this.#end(); // it may be at it still
      throw error;
    } finally {
      late.removeEventListener("abort", stop);
      worker
        .off("message", give)
        .off("error", broken)
        .on("error", () => undefined);
    }
  }
}

function started(): Worker {
  const worker = new Worker(ownProgram(import.meta.url, "./page-worker.ts"), {
    resourceLimits: { maxOldGenerationSizeMb: PAGE_HEAP_MIB },
    env: {},
    stderr: true,
    stdout: true,
  });
  worker.unref();
  return worker;
}

const RAW = "fetch it with `format: raw`";

function tooLong(): ToolFailure {
  return new ToolFailure("TIMEOUT", "the page takes too long to read", RAW);
}

function tooLarge(): ToolFailure {
  return new ToolFailure("OUTPUT_LIMIT", "the page needs too much memory to read", RAW);
}

function unreadable(problem: string): ToolFailure {
  return new ToolFailure("IO_ERROR", `the page cannot be read: ${problem}`, RAW);
}
