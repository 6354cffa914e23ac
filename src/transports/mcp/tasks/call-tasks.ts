/**
 * Keeps calls that take long as tasks, which clients of the tasks extension ask for instead of waiting.
 *
 * A call becomes a task only once it has taken a while, so that most calls are answered at once.
 *
 * INVARIANTS: a task belongs to the client that made its call; its number and age are bounded. Cancelling it, or the
 * end of its client, ends the call. Where there are too many, the client waits as it would without tasks.
 */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../../base/json.ts";

/** Milliseconds after which a call becomes a task. */
const TASK_AFTER_MS = 10_000;
/** Tasks of one client. */
const TASKS_MAX = 64;
/** Milliseconds for which a task is kept after its end. */
const KEPT_MS = 600_000;
/** Milliseconds between two looks at a task that a client should leave. */
const POLL_MS = 1_000;

type Status = "working" | "completed" | "failed" | "cancelled";

interface Task {
  readonly id: string;
  readonly createdAt: string;
  readonly end: AbortController;
  lastUpdatedAt: string;
  status: Status;
  /** The members that the answer to its call has: `result` or `error`. */
  answer: JsonObject;
}

/** What a call came to: its whole answer, or the result that says that it is a task now. */
export type CallOrTask =
  | { readonly kind: "answered"; readonly line: string }
  | { readonly kind: "task"; readonly result: JsonObject };

/** The tasks of one client. */
export class CallTasks {
  readonly #tasks = new Map<string, Task>();
  readonly #afterMs: number;

  constructor(afterMs = TASK_AFTER_MS) {
    this.#afterMs = afterMs;
  }

  /** Makes a call, whose answer comes as one line; it ends with `signal` until it is a task. */
  async run(make: (end: AbortController) => Promise<string>, signal: AbortSignal): Promise<CallOrTask> {
    const end = new AbortController();
    const stop = () => end.abort();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    const making = make(end);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#afterMs);
    });
    try {
      const soon = await Promise.race([making, late]);
      const line = soon ?? (this.#tasks.size >= TASKS_MAX ? await making : undefined);
      if (line !== undefined) return { kind: "answered", line };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return { kind: "answered", line: await making };
    return { kind: "task", result: { resultType: "task", ...this.#keep(making, end) } };
  }

  /** What `tasks/get` answers; `undefined` for a task that nobody knows. */
  get(id: string): JsonObject | undefined {
    const task = this.#tasks.get(id);
    return task && { resultType: "complete", ...factsOf(task), ...task.answer };
  }

  /** Ends a task. @returns whether there is one */
  cancel(id: string): boolean {
    const task = this.#tasks.get(id);
    if (task === undefined) return false;
    if (task.status === "working") this.#settle(task, "cancelled", {});
    task.end.abort();
    return true;
  }

  /** The client is gone. */
  close(): void {
    for (const id of [...this.#tasks.keys()]) this.cancel(id);
    this.#tasks.clear();
  }

  #keep(making: Promise<string>, end: AbortController): JsonObject {
    const now = new Date().toISOString();
    const task: Task = { id: randomUUID(), createdAt: now, lastUpdatedAt: now, end, status: "working", answer: {} };
    this.#tasks.set(task.id, task);
    making.then(
      (line) => {
        const { result, error } = JSON.parse(line) as { readonly result?: JsonObject; readonly error?: JsonObject };
        if (result !== undefined) this.#settle(task, "completed", { result });
        else this.#settle(task, "failed", { error: error ?? {} });
      },
      () => this.#settle(task, "failed", { error: { code: -32603, message: "internal error" } }),
    );
    return factsOf(task);
  }

  #settle(task: Task, status: Status, answer: JsonObject): void {
    if (task.status !== "working") return;
    Object.assign(task, { status, answer, lastUpdatedAt: new Date().toISOString() });
    setTimeout(() => this.#tasks.delete(task.id), KEPT_MS).unref();
  }
}

function factsOf({ id, status, createdAt, lastUpdatedAt }: Task): JsonObject {
  return { taskId: id, status, createdAt, lastUpdatedAt, ttlMs: KEPT_MS, pollIntervalMs: POLL_MS };
}
