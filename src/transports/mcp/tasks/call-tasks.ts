/**
 * Keeps calls that take long as tasks, which clients of the tasks extension ask for instead of waiting.
 *
 * A call becomes a task only once it has taken a while, or asks its client for something, so that most calls are
 * answered at once.
 *
 * INVARIANTS: a task belongs to the client that made its call; its number and age are bounded. Cancelling it, or the
 * end of its client, ends the call. Where there are too many, the client waits as it would without tasks.
 */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../../base/json.ts";
import type { QuestionEnd } from "../approval/questions.ts";
import { type TaskQuestion, TaskQuestions } from "./task-questions.ts";

/** Milliseconds after which a call becomes a task. */
const TASK_AFTER_MS = 10_000;
/** Tasks of one client. */
export const TASKS_MAX = 64;
/** Milliseconds for which a task is kept after its end. */
const KEPT_MS = 600_000;
/** Milliseconds between two looks at a task that a client should leave. */
const POLL_MS = 1_000;

type End = "completed" | "failed" | "cancelled";

interface Task {
  readonly id: string;
  readonly createdAt: string;
  readonly end: AbortController;
  readonly questions: TaskQuestions;
  lastUpdatedAt: string;
  status: "working" | End;
  /** The members that the answer to its call has: `result` or `error`. */
  answer: JsonObject;
  /** What forgets it some time after its end. */
  forgetting?: NodeJS.Timeout;
}

/** A call that may become a task: how it is ended, and how it asks its client once it is one. */
export interface TaskCall {
  readonly end: AbortController;
  /** Makes the call a task, if it is none, and asks. Never rejects; `open`: nobody could be asked, or answered. */
  readonly ask: (question: TaskQuestion, signal: AbortSignal) => Promise<QuestionEnd>;
}

/** What a call came to: its whole answer, or the result that says that it is a task now. */
export type CallOrTask =
  | { readonly kind: "answered"; readonly line: string }
  | { readonly kind: "task"; readonly result: JsonObject };

/** The tasks of one client. */
export class CallTasks {
  readonly #tasks = new Map<string, Task>();
  readonly #afterMs: number;
  /** Calls that became a task and are not among the tasks yet. */
  #becoming = 0;

  constructor(afterMs = TASK_AFTER_MS) {
    this.#afterMs = afterMs;
  }

  /**
   * Makes a call, whose answer comes as one line; it ends with `signal` until it is a task, which it is after
   * `afterMs`.
   */
  async run(
    make: (call: TaskCall) => Promise<string>,
    signal: AbortSignal,
    afterMs = this.#afterMs,
  ): Promise<CallOrTask> {
    const task = newTask();
    const stop = () => task.end.abort();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    const isLate = Promise.withResolvers<undefined>();
    const place = { isHeld: false };
    const takePlace = () => {
      if (!place.isHeld && !signal.aborted && this.#hasRoom) {
        place.isHeld = true;
        this.#becoming += 1;
      }
      return place.isHeld;
    };
    const making = make({
      end: task.end,
      ask: (question, until) => {
        if (!takePlace()) return Promise.resolve({ kind: "open" });
        const asked = task.questions.ask(question, until);
        isLate.resolve(undefined);
        return asked;
      },
    });
    const timer = setTimeout(() => isLate.resolve(undefined), afterMs);
    try {
      const soon = await Promise.race([making, isLate.promise]);
      if (soon === undefined && takePlace() && !signal.aborted)
        return { kind: "task", result: { resultType: "task", ...this.#keep(task, making) } };
      task.questions.close(); // nobody would hear of a question of what is no task
      return { kind: "answered", line: soon ?? (await making) };
    } finally {
      if (place.isHeld) this.#becoming -= 1;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  /** What `tasks/get` answers; `undefined` for a task that nobody knows. */
  get(id: string): JsonObject | undefined {
    const task = this.#tasks.get(id);
    return task && { resultType: "complete", ...factsOf(task), ...task.answer, ...askedBy(task) };
  }

  /**
   * Takes what `client` answers to the questions of a task. @returns whether all of it answers open ones; `undefined`
   * for a task that nobody knows
   */
  update(id: string, responses: JsonObject, client: string): boolean | undefined {
    return this.#tasks.get(id)?.questions.take(responses, client);
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
    for (const task of this.#tasks.values()) {
      this.cancel(task.id);
      clearTimeout(task.forgetting);
    }
    this.#tasks.clear();
  }

  /** Whether a task is at work. */
  get isAtWork(): boolean {
    return [...this.#tasks.values()].some(({ status }) => status === "working");
  }

  get #hasRoom(): boolean {
    return this.#tasks.size + this.#becoming < TASKS_MAX;
  }

  #keep(task: Task, making: Promise<string>): JsonObject {
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

  #settle(task: Task, status: End, answer: JsonObject): void {
    if (task.status !== "working") return;
    Object.assign(task, { status, answer, lastUpdatedAt: new Date().toISOString() });
    task.questions.close();
    task.forgetting = setTimeout(() => this.#tasks.delete(task.id), KEPT_MS).unref();
  }
}

function newTask(): Task {
  const now = new Date().toISOString();
  const task: Task = {
    id: randomUUID(),
    createdAt: now,
    end: new AbortController(),
    questions: new TaskQuestions(() => {
      if (task.status === "working") task.lastUpdatedAt = new Date().toISOString();
    }),
    lastUpdatedAt: now,
    status: "working",
    answer: {},
  };
  return task;
}

function factsOf(task: Task): JsonObject {
  const { id, createdAt, lastUpdatedAt } = task;
  const status = asks(task) ? "input_required" : task.status;
  return { taskId: id, status, createdAt, lastUpdatedAt, ttlMs: KEPT_MS, pollIntervalMs: POLL_MS };
}

function askedBy(task: Task): JsonObject {
  return asks(task) ? { inputRequests: task.questions.requests } : {};
}

function asks({ status, questions }: Task): boolean {
  return status === "working" && questions.areOpen;
}
