/**
 * Runs the program that matches code: one process for all calls, one question at a time.
 *
 * INVARIANTS: each question is answered once, whatever happens to the program. One that takes longer than
 * SYNTAX_MS_MAX is ended with it. The number of questions that wait is bounded, and a program that has nothing to do
 * ends after a while. It keeps no process alive, and ends with the kernel.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ownProgram } from "../../names/own-program.ts";
import type { SyntaxReply, SyntaxRequest, SyntaxResult, UsagesRequest, UsagesResult } from "./code-messages.ts";

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
export type Unanswered =
  | { readonly kind: "ended" }
  | { readonly kind: "too_slow" }
  | { readonly kind: "busy" }
  | { readonly kind: "cancelled" };

type Question = Omit<SyntaxRequest, "id"> | Omit<UsagesRequest, "id">;
type Outcome = SyntaxResult | UsagesResult | Unanswered;

let last: Promise<unknown> = Promise.resolve();
let waiting = 0;
let child: ChildProcess | undefined;
let idle: NodeJS.Timeout | undefined;
let nextId = 1;

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
  const turn = last.then(() => (signal.aborted ? ({ kind: "cancelled" } as const) : ask(question, signal, msMax)));
  last = turn;
  try {
    return await turn;
  } finally {
    waiting -= 1;
    if (waiting === 0) rest();
  }
}

function ask(question: Question, signal: AbortSignal, msMax: number): Promise<Outcome> {
  clearTimeout(idle);
  const id = nextId++;
  child ??= start();
  const program = child;
  program.ref();
  program.channel?.ref();
  return new Promise((resolve) => {
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      program.off("message", onMessage).off("exit", onExit).off("error", onExit);
      signal.removeEventListener("abort", onAbort);
      program.unref();
      program.channel?.unref();
      resolve(outcome);
    };
    const giveUp = (outcome: Outcome) => {
      end(program);
      settle(outcome);
    };
    const onMessage = (reply: SyntaxReply) => {
      if (reply.id === id) settle(reply);
    };
    const onExit = () => giveUp({ kind: "ended" });
    const onAbort = () => giveUp({ kind: "cancelled" });
    const timer = setTimeout(() => giveUp({ kind: "too_slow" }), msMax);
    program.on("message", onMessage).on("exit", onExit).on("error", onExit);
    signal.addEventListener("abort", onAbort, { once: true });
    program.send({ ...question, id } satisfies SyntaxRequest | UsagesRequest, (error) => {
      if (error) giveUp({ kind: "ended" });
    });
  });
}

function start(): ChildProcess {
  const program = fork(fileURLToPath(ownProgram(import.meta.url, "./code-program.ts")), {
    env: {},
    cwd: "/",
    execArgv: [`--max-old-space-size=${SYNTAX_HEAP_MIB}`, "--disable-warning=ExperimentalWarning"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  // One that ends while nobody asks is started anew.
  program.on("error", () => end(program)).on("exit", () => end(program));
  return program;
}

function end(program: ChildProcess): void {
  if (child === program) child = undefined;
  program.kill("SIGKILL");
}

function rest(): void {
  clearTimeout(idle);
  idle = setTimeout(() => child && end(child), SYNTAX_IDLE_MS).unref();
}
