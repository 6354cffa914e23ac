/**
 * Runs the calls of one plugin's module in processes, each one call at a time.
 *
 * A thread would not do: what fills the heap of a thread at once ends the whole process.
 *
 * INVARIANTS: a call is answered once, whatever its process does: one that takes too long, says too much, ends or says
 * what it should not is ended, and the next call gets another. What it writes to its output goes nowhere, and it ends
 * with the kernel.
 */
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import { ForkedProgram } from "../../sandbox/ports/forked-program.ts";
import type { PluginAuditFacts } from "../../tools/plugin/plugin.ts";
import type { DescribedPlugin, PluginCall, PluginReply } from "./plugin-messages.ts";

/** Milliseconds of one call, and of loading a module. */
export const PLUGIN_CALL_MS = 30_000;
const LOAD_MS = 30_000;
/** Mebibytes of heap of a process. */
const HEAP_MIB = 128;
/** Processes of one module, and milliseconds after which one without work is ended. */
const PROCESSES_MAX = 4;
const IDLE_MS = 60_000;
/** Events that one call may note. */
const NOTES_MAX = 1000;

/** How one call is made. */
export interface ProcessCall extends PluginCall {
  readonly signal: AbortSignal;
  readonly note: (category: string, event: string, facts: PluginAuditFacts) => Promise<void>;
}

interface Own {
  readonly child: ForkedProgram<PluginCall, PluginReply>;
  idle: NodeJS.Timeout | undefined;
}

/** The processes of one module. */
export class PluginProcesses {
  readonly #module: string;
  readonly #callMs: number;
  readonly #idle: Own[] = [];
  readonly #waiting: (() => void)[] = [];
  #count = 0;

  /** @param module the module's address */
  constructor(module: string, callMs = PLUGIN_CALL_MS) {
    this.#module = module;
    this.#callMs = callMs;
  }

  /** What the module offers. Rejects where it cannot be loaded. */
  async describe(): Promise<readonly DescribedPlugin[]> {
    const { own, plugins } = await this.#start();
    this.#rest(own);
    return plugins;
  }

  /** What the plugin answers, not yet looked at. @throws ToolFailure where it does not answer */
  async call({ signal, note, ...call }: ProcessCall): Promise<unknown> {
    const own = await this.#take(signal);
    return new Promise((resolve, reject) => {
      let notes = 0;
      const end = (isUsable: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancelled);
        if (isUsable) this.#rest(own);
        else this.#drop(own);
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
      const ended = (problem: string) =>
        fail(new ToolFailure("IO_ERROR", `\`${call.name}\` ended: ${problem}`, "tell its author"));
      const reply = (reply: PluginReply) => {
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
      own.child.listen({ reply, ended });
      own.child.send(call);
    });
  }

  /** Ends all processes without work; one at work ends with its call. */
  close(): void {
    for (const own of [...this.#idle]) this.#drop(own);
  }

  async #take(signal: AbortSignal): Promise<Own> {
    for (;;) {
      const own = this.#idle.pop();
      if (own !== undefined) {
        clearTimeout(own.idle);
        own.child.hold(true);
        return own;
      }
      if (this.#count < PROCESSES_MAX) return (await this.#start()).own;
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
      signal.throwIfAborted();
    }
  }

  #start(): Promise<{ readonly own: Own; readonly plugins: readonly DescribedPlugin[] }> {
    this.#count += 1;
    const program = ownProgram(import.meta.url, "./plugin-program.ts");
    const own: Own = {
      child: new ForkedProgram(program, { args: [this.#module], heapMib: HEAP_MIB }),
      idle: undefined,
    };
    return new Promise((resolve, reject) => {
      const fail = (problem: string) => {
        clearTimeout(timer);
        this.#drop(own);
        reject(new ToolFailure("IO_ERROR", `the plugin's module cannot be loaded: ${problem}`, "tell its author"));
      };
      const timer = setTimeout(() => fail("it takes too long"), LOAD_MS);
      const reply = (reply: PluginReply) => {
        if (reply.kind !== "plugins")
          return fail(reply.kind === "broken" ? String(reply.problem) : "it said something else");
        clearTimeout(timer);
        return resolve({ own, plugins: reply.plugins });
      };
      own.child.listen({ reply, ended: fail });
    });
  }

  /** What one without a call says ends it. */
  #rest(own: Own): void {
    own.child.listen({ reply: () => this.#drop(own), ended: () => this.#drop(own) });
    own.child.hold(false);
    own.idle = setTimeout(() => this.#drop(own), IDLE_MS).unref();
    this.#idle.push(own);
    this.#waiting.shift()?.();
  }

  #drop(own: Own): void {
    clearTimeout(own.idle);
    const at = this.#idle.indexOf(own);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#count -= 1;
    own.child.end();
    this.#waiting.shift()?.();
  }
}
