/**
 * Keeps the questions of one task until its client answers them.
 *
 * INVARIANTS: the key of a question is random and used once; it opens one question of one task, for the client that
 * made the call. What was answered or withdrawn cannot be answered any more. Their number is limited.
 */
import { randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { QuestionEnd } from "../approval/questions.ts";

/** Questions of one task that are open at a time. */
const QUESTIONS_MAX = 16;
/** Bytes of a question's key: nobody guesses it. */
const KEY_BYTES = 16;

/** A question as a request of the protocol, and the client that may answer. */
export interface TaskQuestion {
  readonly method: string;
  readonly params: JsonObject;
  /** The client of the call, by its own word. */
  readonly client: string;
}

interface Open {
  readonly question: TaskQuestion;
  readonly end: (end: QuestionEnd) => void;
}

/** The questions of one task. */
export class TaskQuestions {
  readonly #open = new Map<string, Open>();
  readonly #onChange: () => void;
  #isClosed = false;

  /** @param onChange is called when a question is asked, answered or withdrawn */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether the task waits for an answer. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The requests by their keys. */
  get requests(): JsonObject {
    return Object.fromEntries([...this.#open].map(([key, { question }]) => [key, requestOf(question)]));
  }

  /** Asks, and withdraws the question when `signal` aborts. Never rejects. */
  ask(question: TaskQuestion, signal: AbortSignal): Promise<QuestionEnd> {
    if (this.#isClosed || signal.aborted || this.#open.size >= QUESTIONS_MAX) return Promise.resolve({ kind: "open" });
    const key = randomBytes(KEY_BYTES).toString("base64url");
    return new Promise((resolve) => {
      const withdraw = () => this.#open.get(key)?.end({ kind: "open" });
      const end = (how: QuestionEnd) => {
        this.#open.delete(key);
        signal.removeEventListener("abort", withdraw);
        resolve(how);
        this.#onChange();
      };
      this.#open.set(key, { question, end });
      signal.addEventListener("abort", withdraw, { once: true });
      this.#onChange();
    });
  }

  /** Takes answers by their keys. @returns whether all of them are answers to open questions of `client` */
  take(responses: JsonObject, client: string): boolean {
    let areAllAsked = true;
    for (const [key, result] of Object.entries(responses)) {
      const open = this.#open.get(key);
      if (open === undefined || open.question.client !== client) areAllAsked = false;
      else open.end(isJsonObject(result) ? { kind: "answered", result } : { kind: "failed" });
    }
    return areAllAsked;
  }

  /** The task is over. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of [...this.#open.values()]) end({ kind: "open" });
  }
}

function requestOf({ method, params }: TaskQuestion): JsonObject {
  return { method, params };
}
