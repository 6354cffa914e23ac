/**
 * Runs the calls of one plugin's module in threads, each one call at a time.
 *
 * INVARIANTS: a call is answered once, whatever its thread does: one that takes too long, says too much, ends or says
 * what it should not is ended, and the next call gets another. What a thread writes to its output goes nowhere.
 */
import { Worker } from "node:worker_threads";
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import type { PluginAuditFacts } from "../../tools/plugin/plugin.ts";
import type { DescribedPlugin, PluginCall, PluginReply, PluginWorkerData } from "./plugin-messages.ts";

/** Milliseconds of one call, and of loading a module. */
export const PLUGIN_CALL_MS = 30_000;
const LOAD_MS = 30_000;
/** Mebibytes of heap of a thread. */
const HEAP_MIB = 128;
/** Threads of one module, and milliseconds after which one without work is ended. */
const THREADS_MAX = 4;
const IDLE_MS = 60_000;
/** Events that one call may note. */
const NOTES_MAX = 1000;

/** How one call is made. */
export interface ThreadCall extends PluginCall {
  readonly signal: AbortSignal;
  readonly note: (category: string, event: string, facts: PluginAuditFacts) => Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  /** What hears the thread's replies now. */
  hear: (reply: PluginReply) => void;
  /** What hears that it has ended. */
  lost: (problem: string) => void;
  idle: NodeJS.Timeout | undefined;
}

/** The threads of one module. */
export class PluginThreads {
  readonly #module: string;
  readonly #callMs: number;
  readonly #idle: Thread[] = [];
  readonly #waiting: (() => void)[] = [];
  #count = 0;

  /** @param module the module's address */
  constructor(module: string, callMs = PLUGIN_CALL_MS) {
    this.#module = module;
    this.#callMs = callMs;
  }

  /** What the module offers. Rejects where it cannot be loaded. */
  async describe(): Promise<readonly DescribedPlugin[]> {
    const { thread, plugins } = await this.#start();
    this.#rest(thread);
    return plugins;
  }

  /** What the plugin answers, not yet looked at. @throws ToolFailure where it does not answer */
  async call({ signal, note, ...call }: ThreadCall): Promise<unknown> {
    const thread = await this.#take(signal);
    return new Promise((resolve, reject) => {
      let notes = 0;
      const end = (isUsable: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancelled);
        if (isUsable) this.#rest(thread);
        else this.#drop(thread);
      };
      const fail = (failure: ToolFailure) => {
        end(false);
        reject(failure);
      };
      const cancelled = () => fail(new FailureWithoutEffect("CANCELLED", "the call was cancelled", "send it again"));
      const timer = setTimeout(
        () => fail(new ToolFailure("TIMEOUT", `\`${call.name}\` did not answer in time`, "ask for less")),
        this.#callMs,
      );
      thread.lost = (problem) =>
        fail(new ToolFailure("IO_ERROR", `\`${call.name}\` ended: ${problem}`, "tell its author"));
      thread.hear = (reply) => {
        if (reply.kind === "note") {
          notes += 1;
          if (notes > NOTES_MAX)
            return fail(new ToolFailure("OUTPUT_LIMIT", `\`${call.name}\` notes too many events`, "tell its author"));
          return void note(String(reply.category), String(reply.event), reply.facts).catch(reject);
        }
        if (reply.kind === "answer") {
          end(true);
          return resolve(reply.answer);
        }
        if (reply.kind === "failed") {
          end(true);
          return resolve({ success: false, output: "", error: String(reply.problem) });
        }
        return fail(new ToolFailure("IO_ERROR", `\`${call.name}\` said what no plugin says`, "tell its author"));
      };
      signal.addEventListener("abort", cancelled, { once: true });
      if (signal.aborted) return cancelled();
      thread.worker.postMessage(call);
    });
  }

  /** Ends all threads without work; one at work ends with its call. */
  close(): void {
    for (const thread of [...this.#idle]) this.#drop(thread);
  }

  async #take(signal: AbortSignal): Promise<Thread> {
    for (;;) {
      const thread = this.#idle.pop();
      if (thread !== undefined) {
        clearTimeout(thread.idle);
        thread.worker.ref();
        return thread;
      }
      if (this.#count < THREADS_MAX) return (await this.#start()).thread;
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
      signal.throwIfAborted();
    }
  }

  #start(): Promise<{ readonly thread: Thread; readonly plugins: readonly DescribedPlugin[] }> {
    this.#count += 1;
    const worker = new Worker(ownProgram(import.meta.url, "./plugin-worker.ts"), {
      workerData: { module: this.#module } satisfies PluginWorkerData,
      env: {},
      argv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    worker.stdout.resume();
    worker.stderr.resume();
    const thread: Thread = { worker, hear: () => undefined, lost: () => undefined, idle: undefined };
    worker.on("message", (reply: PluginReply) => {
      if (typeof reply === "object" && reply !== null) thread.hear(reply);
    });
    worker.on("messageerror", () => thread.lost("it sent what cannot be read"));
    worker.on("error", (error: Error) => thread.lost(error.message));
    worker.on("exit", (code) => thread.lost(`its thread ended with ${code}`));
    return new Promise((resolve, reject) => {
      const fail = (problem: string) => {
        clearTimeout(timer);
        this.#drop(thread);
        reject(new ToolFailure("IO_ERROR", `the plugin's module cannot be loaded: ${problem}`, "tell its author"));
      };
      const timer = setTimeout(() => fail("it takes too long"), LOAD_MS);
      thread.lost = fail;
      thread.hear = (reply) => {
        if (reply.kind !== "plugins")
          return fail(reply.kind === "broken" ? String(reply.problem) : "it said something else");
        clearTimeout(timer);
        return resolve({ thread, plugins: reply.plugins });
      };
    });
  }

  /** What a thread without a call says ends it. */
  #rest(thread: Thread): void {
    thread.hear = () => this.#drop(thread);
    thread.lost = () => this.#drop(thread);
    thread.worker.unref();
    thread.idle = setTimeout(() => this.#drop(thread), IDLE_MS).unref();
    this.#idle.push(thread);
    this.#waiting.shift()?.();
  }

  #drop(thread: Thread): void {
    clearTimeout(thread.idle);
    thread.hear = () => undefined;
    thread.lost = () => undefined;
    const at = this.#idle.indexOf(thread);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#count -= 1;
    void thread.worker.terminate();
    this.#waiting.shift()?.();
  }
}
