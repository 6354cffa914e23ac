/**
 * Asks the program that matches code: one process for all calls, one question at a time.
 *
 * INVARIANT: the number of questions that wait is bounded.
 */
import { ownProgram } from "../../names/own-program.ts";
import { type Unanswered as ProgramUnanswered, Questions } from "../ports/questions.ts";
import type { SyntaxRequest, SyntaxResult, UsagesRequest, UsagesResult } from "./code-messages.ts";

/** Milliseconds that one question may take, the start of the program included. */
export const SYNTAX_MS_MAX = 10_000;
/** Questions that wait at a time. */
const SYNTAX_WAITING_MAX = 64;
/** Milliseconds after which a program that had nothing to do is ended. */
const SYNTAX_IDLE_MS = 30_000;
/** Mebibytes of the program's heap. */
const SYNTAX_HEAP_MIB = 256;

/** What came of a question; or the program ended, took too long, or others wait already. */
export type SyntaxOutcome = SyntaxResult | Unanswered;

/** Why a question has no answer. */
export type Unanswered = ProgramUnanswered | { readonly kind: "busy" };

type Question = Omit<SyntaxRequest, "id"> | Omit<UsagesRequest, "id">;
type Outcome = SyntaxResult | UsagesResult | Unanswered;

const program = new Questions<Question, SyntaxResult | UsagesResult>({
  program: ownProgram(import.meta.url, "./code-program.ts"),
  heapMib: SYNTAX_HEAP_MIB,
  idleMs: SYNTAX_IDLE_MS,
});
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** Asks the program for matches. Never rejects. */
export async function askSyntax(
  question: Omit<SyntaxRequest, "id">,
  signal: AbortSignal,
  msMax = SYNTAX_MS_MAX,
): Promise<SyntaxOutcome> {
  const outcome = await asked(question, signal, msMax);
  return outcome.kind === "usages" ? { kind: "ended" } : outcome;
}

/** Asks the program for usages of a name. Never rejects. */
export async function askUsages(
  question: Omit<UsagesRequest, "id">,
  signal: AbortSignal,
  msMax = SYNTAX_MS_MAX,
): Promise<UsagesResult | Unanswered> {
  const outcome = await asked(question, signal, msMax);
  const isOther = outcome.kind === "found" || outcome.kind === "invalid";
  return isOther || outcome.kind === "bad_content" || outcome.kind === "missing" ? { kind: "ended" } : outcome;
}

async function asked(question: Question, signal: AbortSignal, msMax: number): Promise<Outcome> {
  if (waiting >= SYNTAX_WAITING_MAX) return { kind: "busy" };
  waiting += 1;
  const turn = last.then(() =>
    signal.aborted ? ({ kind: "cancelled" } as const) : program.ask(question, msMax, signal),
  );
  last = turn;
  try {
    return await turn;
  } finally {
    waiting -= 1;
  }
}
