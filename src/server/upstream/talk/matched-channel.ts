/**
 * Passes on only answers to what was asked, each once, and ends a server that works on what was cancelled.
 *
 * A server need not answer what was cancelled, and one that goes on with it looks the same from outside. So a cancelled
 * question that is not answered soon ends the server where its work ends with it: nothing runs on that nobody waits
 * for.
 *
 * INVARIANTS: an answer reaches the question with exactly its id, once; any other one is a stray. The answer to a
 * cancelled question, and progress of what is not asked, reach nobody.
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { isJsonObject } from "../../../base/json.ts";
import type { ProgressListener } from "../../../model/outcome/progress.ts";
import type { UpstreamChannel } from "./channel.ts";
import { isTooMuch } from "./message-size.ts";

/** A question that is no work, and is answered only with its end. */
const LISTENING = "subscriptions/listen";
/** Cancelled questions that a server may leave unanswered where its work does not end with the channel. */
const FORGOTTEN_MAX = 1000;

/** The channel of one server as the client library sees it. */
export class MatchedChannel implements Transport {
  readonly #channel: UpstreamChannel;
  readonly #graceMs: number;
  /** The questions that are open, by their ids. */
  readonly #open = new Map<RequestId, JSONRPCRequest>();
  /** Who hears of progress, by the token that the question brings. */
  readonly #listeners = new Map<unknown, ProgressListener>();
  /** Those that were cancelled and are not answered yet; each with what ends the server. */
  readonly #cancelled = new Map<RequestId, NodeJS.Timeout | undefined>();
  #quiet = Promise.withResolvers<void>();
  #tokens = 0;
  #wasStopped = false;
  onclose?: (() => void) | undefined;
  onmessage?: Transport["onmessage"];
  onerror?: ((error: Error) => void) | undefined;

  /** @param graceMs milliseconds in which a cancelled question has to be answered */
  constructor(channel: UpstreamChannel, graceMs: number) {
    this.#channel = channel;
    this.#graceMs = graceMs;
    this.#quiet.resolve();
  }

  /** Resolves once nothing that was cancelled is worked on any more, as far as anybody can know. */
  get quiet(): Promise<void> {
    return this.#quiet.promise;
  }

  /** Whether it was ended because it did not end what was cancelled. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  get hasPerRequestStream(): boolean {
    return this.#channel.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#channel.sessionId;
  }

  readonly setProtocolVersion = (version: string): void => this.#channel.setProtocolVersion?.(version);
  readonly setSupportedProtocolVersions = (versions: string[]): void =>
    this.#channel.setSupportedProtocolVersions?.(versions);

  /** The token with which a question asks to be told how far it is; `listener` hears until it is answered. */
  tokenFor(listener: ProgressListener): string {
    this.#tokens += 1;
    const token = `progress:${this.#tokens}`;
    this.#listeners.set(token, listener);
    return token;
  }

  async start(): Promise<void> {
    this.#channel.onmessage = (message, extra) => {
      if (isTooMuch(message)) this.#channel.fail("it said more values in one message than anyone asked for");
      else if (this.#isExpected(message)) this.onmessage?.(message, extra);
    };
    this.#channel.onerror = (error) => this.onerror?.(error);
    this.#channel.onclose = () => {
      for (const timer of this.#cancelled.values()) clearTimeout(timer);
      this.#cancelled.clear();
      this.#open.clear();
      this.#listeners.clear();
      this.#quiet.resolve();
      this.onclose?.();
    };
    await this.#channel.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ("method" in message && "id" in message) this.#open.set(message.id, message);
    else if ("method" in message && message.method === "notifications/cancelled")
      this.#cancel(message.params?.["requestId"] as RequestId);
    await this.#channel.send(message, options);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #cancel(id: RequestId): void {
    const question = this.#take(id);
    if (question === undefined) return;
    if (!this.#channel.endsWork || question.method === LISTENING) {
      this.#forgetOldest();
      this.#cancelled.set(id, undefined);
      return;
    }
    if (!this.#isStopping) this.#quiet = Promise.withResolvers<void>();
    const stop = () => {
      this.#wasStopped = true;
      this.#channel.fail("it did not end what was cancelled");
    };
    this.#cancelled.set(id, setTimeout(stop, this.#graceMs));
  }

  /** One that is never answered must not be remembered for ever. */
  #forgetOldest(): void {
    for (const [id, timer] of this.#cancelled)
      if (timer === undefined && this.#cancelled.size >= FORGOTTEN_MAX) this.#answered(id);
  }

  #answered(id: RequestId): void {
    clearTimeout(this.#cancelled.get(id));
    this.#cancelled.delete(id);
    if (!this.#isStopping) this.#quiet.resolve();
  }

  /** Whether work that was cancelled may go on. */
  get #isStopping(): boolean {
    return [...this.#cancelled.values()].some((timer) => timer !== undefined);
  }

  #isExpected(message: JSONRPCMessage): boolean {
    if ("method" in message) {
      if (message.method !== "notifications/progress") return true;
      this.#report(message.params);
      return false; // the library is told of answers before what was said before them
    }
    const id = message.id;
    if (id !== undefined && this.#take(id) !== undefined) return true;
    if (id !== undefined && this.#cancelled.has(id)) this.#answered(id);
    else this.#channel.stray();
    return false;
  }

  /** The open question of that id, which is not open from now on. */
  #take(id: RequestId): JSONRPCRequest | undefined {
    const question = this.#open.get(id);
    if (question === undefined) return undefined;
    this.#open.delete(id);
    this.#listeners.delete(question.params?._meta?.progressToken);
    return question;
  }

  /** Progress that comes just after the answer is nothing to hold against anybody. */
  #report(params: unknown): void {
    if (!isJsonObject(params)) return;
    const { progressToken, progress: completed, total, message } = params;
    if (typeof completed !== "number") return;
    this.#listeners.get(progressToken)?.({
      kind: "progress",
      completed,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  }
}
