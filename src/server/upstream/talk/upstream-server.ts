/**
 * Speaks with one upstream server: starts it with the first question, and again after it failed.
 *
 * INVARIANTS: one question at a time, so that no answer can be another's. One that failed is started again only after a
 * pause that grows with each failure. It is offered no sampling, elicitation or roots. A tool is called only while it
 * is offered as it was approved.
 */
import { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../base/json.ts";
import { FailureWithoutEffect, ToolFailure } from "../../../model/outcome/failure.ts";
import type { UpstreamAnswer } from "../../../tools/upstream/upstream-tool.ts";
import { hashOf, type OfferedTool, readOffered, UPSTREAM_TOOLS_MAX } from "../records/pins.ts";
import { readAnswer } from "./answer.ts";
import type { OpenChannel, UpstreamChannel } from "./channel.ts";

/** Pages of a list of tools. */
const PAGES_MAX = 64;
/** Questions that wait for one server. */
const WAITING_MAX = 8;

/** Bounds that tests make smaller. */
export interface UpstreamBounds {
  readonly startMs: number;
  readonly callMs: number;
  readonly pauseMs: number;
  readonly pauseMsMax: number;
  readonly idleMs: number;
}

/** The bounds of a kernel. */
export const UPSTREAM_BOUNDS: UpstreamBounds = {
  startMs: 30_000,
  callMs: 120_000,
  pauseMs: 1000,
  pauseMsMax: 60_000,
  idleMs: 5 * 60_000,
};

interface Running {
  readonly channel: UpstreamChannel;
  readonly client: Client;
  /** Hashes of its tools by their names, as it listed them last; absent before it did, and once it says so. */
  offered: ReadonlyMap<string, string> | undefined;
  /** How often it said that its tools changed. */
  changes: number;
}

/** One upstream server. */
export class UpstreamServer {
  readonly #name: string;
  readonly #open: OpenChannel;
  readonly #bounds: UpstreamBounds;
  #running: Promise<Running> | undefined;
  #channel: UpstreamChannel | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #failures = 0;
  #notBeforeMs = 0;
  #why = "";
  #idle: NodeJS.Timeout | undefined;

  constructor(name: string, open: OpenChannel, bounds: UpstreamBounds = UPSTREAM_BOUNDS) {
    this.#name = name;
    this.#open = open;
    this.#bounds = bounds;
  }

  /** What it offers now. @throws ToolFailure where it offers nothing that can be used */
  async list(signal: AbortSignal): Promise<readonly OfferedTool[]> {
    return await this.#ask(signal, async (running) => await this.#list(running, signal));
  }

  /** Calls a tool that has the pinned hash still. @throws ToolFailure where there is no answer */
  async call(
    { name, hash }: { readonly name: string; readonly hash: string },
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    return await this.#ask(signal, async (running) => {
      const now = (running.offered ?? (await this.#look(running, signal))).get(name);
      if (now !== hash) throw this.#isAnother(name, now === undefined);
      const answer = await running.client.request(
        { method: "tools/call", params: { name, arguments: args } },
        { signal, timeout: this.#bounds.callMs },
      );
      return readAnswer(this.#name, answer as JsonObject);
    });
  }

  /** Ends it. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#channel?.close();
  }

  async #ask<Answer>(signal: AbortSignal, work: (running: Running) => Promise<Answer>): Promise<Answer> {
    if (this.#waiting >= WAITING_MAX)
      throw new FailureWithoutEffect(
        "RESOURCE_BUSY",
        `too many calls wait for \`${this.#name}\``,
        "send fewer at once",
      );
    this.#waiting += 1;
    clearTimeout(this.#idle);
    const turn = this.#last.then(() => this.#answer(signal, work));
    // a place in the queue is given back in its turn, also where whoever asked has left before
    this.#last = turn.then(this.#served, this.#served);
    return await beforeAbort(turn, signal);
  }

  readonly #served = (): void => {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#idle = setTimeout(() => void this.close(), this.#bounds.idleMs).unref();
  };

  async #answer<Answer>(signal: AbortSignal, work: (running: Running) => Promise<Answer>): Promise<Answer> {
    if (signal.aborted) throw cancelled();
    const running = await this.#started();
    try {
      running.channel.reset(1);
      const answer = await work(running);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      if (signal.aborted) throw cancelled();
      const message = error instanceof Error ? error.message : "unknown";
      if (running.channel.failure === undefined && !isTimeout(error)) throw this.#says(message);
      // one that does not answer still works on what nobody waits for
      running.channel.fail("it did not answer in time");
      throw this.#noted(running.channel.failure ?? message);
    }
  }

  async #started(): Promise<Running> {
    if (this.#channel?.failure !== undefined) this.#running = undefined;
    if (this.#running !== undefined) return await this.#running;
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs > 0) throw this.#pausing(waitMs);
    await this.#channel?.ended;
    const channel = this.#open();
    this.#channel = channel;
    this.#running = this.#connect(channel);
    try {
      return await this.#running;
    } catch (error) {
      channel.fail("it did not answer as an MCP server");
      const message = error instanceof Error ? error.message : "unknown";
      throw this.#noted(
        channel.failure === "it did not answer as an MCP server" ? message : (channel.failure ?? message),
      );
    }
  }

  async #connect(channel: UpstreamChannel): Promise<Running> {
    const client = new Client({ name: "handrail", version: "1" }, { capabilities: {} });
    client.onerror = () => channel.stray();
    await client.connect(channel, { timeout: this.#bounds.startMs });
    const running: Running = { channel, client, offered: undefined, changes: 0 };
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      running.offered = undefined;
      running.changes += 1;
    });
    return running;
  }

  /** Hashes by name; kept only once the whole list has come, and nothing changed meanwhile. */
  async #look(running: Running, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { changes } = running;
    const offered = new Map((await this.#list(running, signal)).map((tool) => [tool.name, hashOf(tool)]));
    if (running.changes === changes) running.offered = offered;
    return offered;
  }

  async #list({ client }: Running, signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const all: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX && all.length <= UPSTREAM_TOOLS_MAX; page += 1) {
      const { tools, nextCursor } = await client.request(
        { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
        { signal, timeout: this.#bounds.startMs },
      );
      all.push(...tools);
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    if (cursor !== undefined) throw this.#unusable("its list of tools has no end");
    const tools = readOffered(all);
    if (typeof tools === "string") throw this.#unusable(tools);
    return tools;
  }

  #noted(why: string): ToolFailure {
    this.#failures += 1;
    this.#why = why;
    const { pauseMs, pauseMsMax } = this.#bounds;
    this.#notBeforeMs = performance.now() + Math.min(pauseMs * 2 ** Math.min(this.#failures - 1, 16), pauseMsMax);
    return new ToolFailure("IO_ERROR", `the server \`${this.#name}\` gave no answer: ${why}`, ADVICE);
  }

  #pausing(waitMs: number): ToolFailure {
    const message = `the server \`${this.#name}\` failed: ${this.#why}`;
    const retryAfterMs = Math.ceil(waitMs);
    return new FailureWithoutEffect("RESOURCE_BUSY", message, { suggestion: ADVICE, retryAfterMs });
  }

  #says(message: string): ToolFailure {
    return new ToolFailure("IO_ERROR", `the server \`${this.#name}\` says: ${message.slice(0, 600)}`, "mend the call");
  }

  #unusable(why: string): ToolFailure {
    return new FailureWithoutEffect("NOT_SUPPORTED", `the server \`${this.#name}\` cannot be used: ${why}`, ADVICE);
  }

  #isAnother(name: string, isGone: boolean): ToolFailure {
    const how = isGone ? "no longer offers" : "has changed";
    return new FailureWithoutEffect(
      "NOT_SUPPORTED",
      `the server \`${this.#name}\` ${how} its tool \`${name}\` since a person approved it`,
      `do without it; the operator sees the difference with \`handrail upstream show ${this.#name}\``,
    );
  }
}

const ADVICE = "do without it, or ask the operator to look at the server";

function cancelled(): ToolFailure {
  return new ToolFailure("CANCELLED", "the call was cancelled", "send it again");
}

/** What `turn` comes to, or that it was cancelled, as soon as it is. */
async function beforeAbort<Answer>(turn: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(cancelled());
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([turn, aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error && /timed? ?out/i.test(`${error.message} ${(error as { readonly code?: unknown }).code}`)
  );
}
