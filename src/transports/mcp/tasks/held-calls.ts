/**
 * Holds calls that take longer than a client without tasks waits.
 *
 * It is told so, and the very same call again waits on. Such a client gives up after a time of its own, and what it
 * began would be ended or lost.
 *
 * INVARIANTS: a held call runs once, whoever asks for it again; its result is handed out once. Their number and age are
 * bounded. Cancelling the call that waits for one ends it, and so does the end of the client.
 */
import { createHash } from "node:crypto";
import type { RequestId } from "@modelcontextprotocol/server";
import { canonicalJson, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { type CallParameters, META_DEDUPE_KEY } from "../answers/call-tool.ts";
import { printAnswer, type ResultFrame } from "../answers/print-result.ts";

/** Milliseconds after which a call is held: many clients give up after a minute. */
export const HELD_AFTER_MS = 45_000;
/** Held calls of one client. */
export const HELD_MAX = 16;
/** Milliseconds for which the result of a held call is kept. */
const KEPT_MS = 600_000;

/** A call and how its answer is written. */
export interface HoldableCall {
  readonly id: RequestId;
  readonly parameters: CallParameters;
  /** Whether the tool's results have a schema, which this answer does not meet. */
  readonly isStructured: boolean;
  readonly frame: ResultFrame;
}

interface Held {
  readonly end: AbortController;
  /** The members of the answer: `result` or `error`. */
  readonly answer: Promise<JsonObject>;
  isWaitedFor: boolean;
  /** What forgets it some time after its end. */
  forgetting?: NodeJS.Timeout;
}

/** The held calls of one client. */
export class HeldCalls {
  readonly #held = new Map<string, Held>();
  readonly #afterMs: number;

  constructor(afterMs = HELD_AFTER_MS) {
    this.#afterMs = afterMs;
  }

  /** Whether a call is held. */
  get isAtWork(): boolean {
    return this.#held.size > 0;
  }

  /**
   * Makes a call, whose answer comes as one line, or waits on for one that is held and the same.
   * @param describe the call; asked only where something is held, or has to be
   */
  run(describe: () => HoldableCall, end: AbortController, make: () => Promise<string>): Promise<string> {
    // Arguments can be long: they are looked at only where something is held.
    if (this.#held.size > 0) {
      const call = describe();
      const key = keyOf(call.parameters);
      const held = this.#held.get(key);
      if (held?.isWaitedFor === false) return this.#waitOn(call, { key, held, signal: end.signal });
    }
    const making = make();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      const call = describe();
      const own = keyOf(call.parameters);
      if (end.signal.aborted || this.#held.size >= HELD_MAX || this.#held.has(own)) return;
      this.#keep(own, end, making);
      resolve(this.#stillRuns(call));
    }, this.#afterMs);
    making.then(
      (line) => {
        clearTimeout(timer);
        resolve(line);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
    return promise;
  }

  /** The client is gone. */
  close(): void {
    for (const [key, held] of this.#held) {
      held.end.abort();
      this.#forget(key, held);
    }
  }

  #keep(key: string, end: AbortController, making: Promise<string>): void {
    const answer = making.then(answerIn, () => ({ error: { code: -32603, message: "internal error" } }));
    const held: Held = { end, answer, isWaitedFor: false };
    this.#held.set(key, held);
    void answer.then(() => {
      if (this.#held.get(key) !== held) return; // the client is gone
      held.forgetting = setTimeout(() => this.#forget(key, held), KEPT_MS).unref();
    });
  }

  async #waitOn(
    call: HoldableCall,
    { key, held, signal }: { readonly key: string; readonly held: Held; readonly signal: AbortSignal },
  ): Promise<string> {
    const stop = () => held.end.abort();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    held.isWaitedFor = true;
    const answer = await within(held.answer, this.#afterMs);
    held.isWaitedFor = false;
    signal.removeEventListener("abort", stop);
    if (answer === undefined) return this.#stillRuns(call);
    this.#forget(key, held);
    return JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answer });
  }

  #forget(key: string, held: Held): void {
    clearTimeout(held.forgetting);
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  #stillRuns({ id, parameters: { name }, isStructured, frame }: HoldableCall): string {
    const text =
      `\`${name}\` still runs; this is no failure. Make the very same call again, with the same arguments: ` +
      "it waits for the result of this run and begins no other. Cancel that call to end it.";
    const result = { texts: [text], facts: { status: "running" }, isError: isStructured, isMalformed: false };
    return printAnswer(id, result, frame);
  }
}

function keyOf({ name, arguments: args, _meta }: CallParameters): string {
  const dedupeKey = (_meta as JsonObject | undefined)?.[META_DEDUPE_KEY];
  const call = [name, (args as JsonValue | undefined) ?? {}, dedupeKey ?? null];
  return createHash("sha256").update(canonicalJson(call)).digest("base64url");
}

function answerIn(line: string): JsonObject {
  const { result, error } = JSON.parse(line) as { readonly result?: JsonObject; readonly error?: JsonObject };
  return result === undefined ? { error: error ?? {} } : { result };
}

/** What `promise` resolves to, or `undefined` after `limitMs`. */
async function within<Value>(promise: Promise<Value>, limitMs: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
