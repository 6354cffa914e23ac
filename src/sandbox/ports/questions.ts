/**
 * Asks a program of Handrail's own in another process, one question at a time.
 *
 * INVARIANTS: each question is answered once, whatever happens to the program. One that takes too long is ended with
 * it, and the next question starts another. A program that has nothing to do ends after a while.
 */
import { ForkedProgram, type ForkOptions } from "./forked-program.ts";

/** Why a question has no answer. */
export type Unanswered = { readonly kind: "ended" } | { readonly kind: "too_slow" } | { readonly kind: "cancelled" };

/** A program, and milliseconds after which one that had nothing to do is ended. */
export interface QuestionedProgram extends ForkOptions {
  readonly program: URL;
  readonly idleMs: number;
}

interface Numbered {
  readonly id: number;
}

/** Asks one program. Not to be asked again before it has answered. */
export class Questions<Question extends object, Reply extends object> {
  readonly #options: QuestionedProgram;
  #program: ForkedProgram<Question & Numbered, Reply & Numbered> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(options: QuestionedProgram) {
    this.#options = options;
  }

  /** What it answers within `msMax`, the start of the program included. Never rejects. */
  ask(question: Question, msMax: number, signal?: AbortSignal): Promise<Reply | Unanswered> {
    clearTimeout(this.#idle);
    const id = this.#nextId++;
    if (!this.#program?.isRunning) this.#program = new ForkedProgram(this.#options.program, this.#options);
    const program = this.#program;
    program.hold(true);
    return new Promise((resolve) => {
      const settle = (outcome: Reply | Unanswered) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancelled);
        program.listen(NOBODY);
        program.hold(false);
        this.#rest();
        resolve(outcome);
      };
      const giveUp = (outcome: Unanswered) => {
        program.end();
        settle(outcome);
      };
      const cancelled = () => giveUp({ kind: "cancelled" });
      const timer = setTimeout(() => giveUp({ kind: "too_slow" }), msMax);
      signal?.addEventListener("abort", cancelled, { once: true });
      program.listen({
        reply: (reply) => reply.id === id && settle(reply),
        ended: () => giveUp({ kind: "ended" }),
      });
      program.send({ ...question, id });
    });
  }

  /** Ends the program. */
  close(): void {
    clearTimeout(this.#idle);
    this.#program?.end();
  }

  #rest(): void {
    this.#idle = setTimeout(() => this.close(), this.#options.idleMs).unref();
  }
}

const NOBODY = { reply: () => undefined, ended: () => undefined };
