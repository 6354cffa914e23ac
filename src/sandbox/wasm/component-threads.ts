/**
 * Runs the calls of one WebAssembly component in threads of its process, each call in a fresh instance.
 *
 * A call that lasts too long, or breaks, ends its thread; the next one gets another. INVARIANT: a component reaches
 * nothing but its arguments and the files that are handed to it.
 */
import { Worker } from "node:worker_threads";
import { configInvalid } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import type {
  Compiled,
  ComponentCall,
  ComponentLimits,
  ComponentQuestion,
  ComponentReply,
  ComponentTask,
  DescribedComponent,
} from "./component-messages.ts";
import type { Prepared } from "./prepare-component.ts";
import { engine } from "./web-assembly.ts";

/** Milliseconds that preparing a component may take: a megabyte takes 0.1 s. */
const PREPARE_MS = 30_000;
/** Mebibytes of heap of a thread that prepares; and of one that runs, beside the memory of the component. */
const PREPARE_HEAP_MIB = 512;
const RUN_HEAP_MIB = 96;
/** Threads of one component: calls beyond them wait. */
const THREADS_MAX = 4;

/**
 * Prepares a component in a thread.
 * @throws KernelError CONFIG_INVALID where it is no component, or imports what is not granted
 */
export async function prepared(bytes: Uint8Array, memoryBytes: number, readsFiles: boolean): Promise<Prepared> {
  const task = { kind: "prepare", bytes, memoryBytes, readsFiles } as const;
  const reply = await answerOfOne({ task, heapMiB: PREPARE_HEAP_MIB, timeMs: PREPARE_MS });
  if (reply.kind !== "prepared") throw unusable(reply);
  return reply.prepared;
}

/** The threads of one component. */
export class ComponentThreads {
  readonly #compiled: Compiled;
  readonly #limits: ComponentLimits;
  readonly #idle: Worker[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ glue, cores, withMemory }: Prepared, limits: ComponentLimits) {
    const modules = new Map([...cores].map(([name, bytes]) => [name, new engine.Module(bytes)]));
    this.#compiled = { glue, modules, withMemory };
    this.#limits = limits;
  }

  /** What the component says of itself, asked under its limits. @throws KernelError CONFIG_INVALID where it breaks */
  async describe(): Promise<DescribedComponent> {
    const task = { kind: "run", compiled: this.#compiled } as const;
    const { timeMs } = this.#limits;
    const said = await answerOfOne({ task, heapMiB: RUN_HEAP_MIB, timeMs, asked: "describe" });
    if (said.kind !== "described") throw unusable(said);
    return said.described;
  }

  /** What the component answers. @throws ToolFailure where it fails, takes too long, or says too much */
  async execute(args: string, files: ComponentCall["files"], signal: AbortSignal): Promise<string> {
    await this.#turn(signal);
    try {
      signal.throwIfAborted();
      return await this.#run({ args, files, outputBytes: this.#limits.outputBytes }, signal);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#running >= THREADS_MAX) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((each) => each !== resolve));
      signal.throwIfAborted();
    }
    this.#running += 1;
  }

  /** A thread that ends by itself while it has nothing to do gets no more calls. */
  #started(): Worker {
    const worker = started({ kind: "run", compiled: this.#compiled }, RUN_HEAP_MIB);
    worker.once("exit", () => {
      const at = this.#idle.indexOf(worker);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    return worker;
  }

  async #run(call: ComponentCall, signal: AbortSignal): Promise<string> {
    const worker = this.#idle.pop() ?? this.#started();
    worker.postMessage(call);
    let reply: ComponentReply;
    try {
      reply = await answerOf(worker, AbortSignal.any([signal, AbortSignal.timeout(this.#limits.timeMs)]));
    } catch (error) {
      await worker.terminate(); // it may be at it still
      signal.throwIfAborted();
      throw error;
    }
    if (reply.kind === "failed") await worker.terminate();
    else this.#idle.push(worker);
    return textOf(reply, this.#limits);
  }
}

function textOf(reply: ComponentReply, { outputBytes }: ComponentLimits): string {
  if (reply.kind === "done") return reply.text;
  if (reply.kind === "said") throw new ToolFailure("NOT_SUPPORTED", reply.problem, "correct the arguments");
  if (reply.kind === "too_large")
    throw new ToolFailure("OUTPUT_LIMIT", `the component answers more than ${outputBytes} bytes`, "ask for less");
  const problem = "problem" in reply ? reply.problem : "it did not answer";
  throw new ToolFailure("IO_ERROR", `the component broke: ${problem}`, "ask for less, or tell the operator");
}

/** A thread for one answer. */
interface OneAnswer {
  readonly task: ComponentTask;
  readonly heapMiB: number;
  readonly timeMs: number;
  /** What it is asked; one that prepares answers by itself. */
  readonly asked?: ComponentQuestion;
}

async function answerOfOne({ task, heapMiB, timeMs, asked }: OneAnswer): Promise<ComponentReply> {
  const worker = started(task, heapMiB);
  try {
    if (asked !== undefined) worker.postMessage(asked);
    return await answerOf(worker, AbortSignal.timeout(timeMs));
  } catch (error) {
    if (error instanceof ToolFailure) throw configInvalid(`${error.message}; build it so that it says what it is`);
    throw error;
  } finally {
    await worker.terminate();
  }
}

function unusable(reply: ComponentReply) {
  return configInvalid("problem" in reply ? reply.problem : "it cannot be prepared");
}

/** The next answer of `worker`. @throws ToolFailure TIMEOUT, or OUTPUT_LIMIT where its heap is full */
async function answerOf(worker: Worker, late: AbortSignal): Promise<ComponentReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ComponentReply>();
  const next = "ask for less, or tell the operator";
  const stop = () => reject(new ToolFailure("TIMEOUT", "the component takes too long", next));
  const broken = (error?: Error | number) => reject(ended(error, next));
  worker.on("message", resolve).on("error", broken).on("exit", broken);
  late.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    late.removeEventListener("abort", stop);
    worker.off("message", resolve).off("error", broken).off("exit", broken);
  }
}

function ended(error: Error | number | undefined, next: string): ToolFailure {
  const isFull = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isFull) return new ToolFailure("OUTPUT_LIMIT", "the component filled the memory of its thread", next);
  return new ToolFailure("IO_ERROR", "the component's thread ended", next);
}

function started(task: ComponentTask, heapMiB: number): Worker {
  const worker = new Worker(ownProgram(import.meta.url, "./component-worker.ts"), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    env: {},
    stderr: true,
    stdout: true,
  });
  worker.on("error", () => undefined); // whoever waits for an answer hears of it
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}
