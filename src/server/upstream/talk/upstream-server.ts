/**
 * Keeps one upstream server: starts it with the first question, and again after it failed.
 *
 * INVARIANTS: an answer reaches the question that it answers, or nobody (`matched-channel.ts`). What is cancelled, or
 * takes too long, is worked on no more once its caller is told. One that failed is started again only after a pause
 * that grows with each failure.
 */
import type { JsonObject } from "../../../base/json.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { UpstreamAnswer } from "../../../tools/upstream/upstream-tool.ts";
import type { OfferedTool } from "../records/pins.ts";
import type { AskedServer, Asking, PinnedTool } from "./asked-server.ts";
import { beforeAbort } from "./before-abort.ts";
import type { OpenChannel, UpstreamChannel } from "./channel.ts";
import { Connection, type ConnectionBounds } from "./connection.ts";
import { cancelled, isTimeout, isUndecided, UpstreamFailures } from "./failures.ts";
import { Places } from "./places.ts";

/** Questions that are open at one server at once, and that wait for that. */
const OPEN_MAX = 8;
const WAITING_MAX = 64;
/** Starts for one question. */
const STARTS_MAX = 8;

/** Bounds that tests make smaller. */
export interface UpstreamBounds extends ConnectionBounds {
  readonly pauseMs: number;
  readonly pauseMsMax: number;
  readonly idleMs: number;
}

/** The bounds of a kernel. */
export const UPSTREAM_BOUNDS: UpstreamBounds = {
  startMs: 30_000,
  probeMs: 5000,
  callMs: 120_000,
  stopMs: 1000,
  pauseMs: 1000,
  pauseMsMax: 60_000,
  idleMs: 5 * 60_000,
};

/** One upstream server. */
export class UpstreamServer implements AskedServer {
  readonly #name: string;
  readonly #open: OpenChannel;
  readonly #bounds: UpstreamBounds;
  readonly #failures: UpstreamFailures;
  readonly #places: Places;
  #starting: Promise<Connection> | undefined;
  #channel: UpstreamChannel | undefined;
  #isLegacy = false;
  #isClosed = false;
  /** Failures in a row, and the channel whose failure was counted last. */
  #failed = 0;
  #counted: UpstreamChannel | undefined;
  #notBeforeMs = 0;
  #why = "";
  #idle: NodeJS.Timeout | undefined;

  constructor(name: string, open: OpenChannel, bounds: UpstreamBounds = UPSTREAM_BOUNDS) {
    this.#name = name;
    this.#open = open;
    this.#bounds = bounds;
    // what it asks a person belongs to the call that is open, if there is but one
    const max = bounds.grants?.includes("elicitation") === true ? 1 : OPEN_MAX;
    this.#places = new Places({ max, waitingMax: WAITING_MAX });
    this.#failures = new UpstreamFailures(name);
  }

  /** What it offers now. @throws ToolFailure where it offers nothing that can be used */
  async list(signal: AbortSignal): Promise<readonly OfferedTool[]> {
    return await this.#ask(signal, (connection) => connection.list(signal));
  }

  /** Calls a tool that has the pinned hash still. @throws ToolFailure where there is no answer */
  async call(pinned: PinnedTool, args: JsonObject, asking: Asking): Promise<UpstreamAnswer> {
    return await this.#ask(asking.signal, (connection) => connection.call(pinned, args, asking));
  }

  /** Ends it for good, with the calls that are under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#rest();
  }

  /** Ends its process; the next question starts another. */
  async #rest(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#channel?.close();
  }

  async #ask<Answer>(signal: AbortSignal, work: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    if (this.#places.isFull) throw this.#failures.busy();
    clearTimeout(this.#idle);
    if (!(await this.#places.take(signal))) throw cancelled();
    try {
      const connection = await beforeAbort(this.#started(), signal);
      return await this.#answer(connection, signal, work);
    } finally {
      this.#places.free();
      if (this.#places.isIdle && !this.#isClosed)
        this.#idle = setTimeout(() => void this.#rest(), this.#bounds.idleMs).unref();
    }
  }

  async #answer<Answer>(
    connection: Connection,
    signal: AbortSignal,
    work: (connection: Connection) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const answer = await connection.during(() => work(connection));
      this.#failed = 0;
      return answer;
    } catch (error) {
      throw await this.#failureAfter(error, connection, signal);
    }
  }

  /** What the caller is told. Nothing of the question is worked on any more once this resolves. */
  async #failureAfter(error: unknown, connection: Connection, signal: AbortSignal): Promise<Error> {
    const { channel } = connection;
    const isLate = isTimeout(error);
    if (signal.aborted || isLate) await connection.quiet;
    if (signal.aborted) return cancelled();
    if (error instanceof ToolFailure) return error;
    if (isLate) return channel.failure === undefined ? this.#failures.slow() : this.#noted(channel, LATE);
    if (channel.failure === undefined) return this.#failures.says(error);
    return connection.wasStopped ? this.#failures.endedBesides() : this.#noted(channel, channel.failure);
  }

  /** The server as it runs; it works on nothing that was cancelled. */
  async #started(): Promise<Connection> {
    for (let starts = 0; starts < STARTS_MAX; starts += 1) {
      this.#starting ??= this.#startAnew();
      const starting = this.#starting;
      try {
        const connection = await starting;
        await connection.quiet;
        if (connection.channel.failure === undefined) return connection;
      } catch (error) {
        this.#drop(starting);
        throw error;
      }
      this.#drop(starting); // it ended while nobody asked, or with what was cancelled
    }
    throw this.#failures.broken("it ends again and again");
  }

  #drop(starting: Promise<Connection>): void {
    if (this.#starting === starting) this.#starting = undefined;
  }

  async #startAnew(): Promise<Connection> {
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs > 0) throw this.#failures.pausing(this.#why, waitMs);
    const connection = await this.#connection();
    try {
      await connection.open();
      return connection;
    } catch (error) {
      if (this.#isLegacy || !isUndecided(error)) throw this.#startFailed(connection.channel, error);
    }
    return await this.#startAsLegacy();
  }

  /** There are servers that end, or never answer, when they are asked anything before `initialize`. */
  async #startAsLegacy(): Promise<Connection> {
    this.#isLegacy = true;
    this.#channel?.fail("it does not answer what is asked before `initialize`");
    const connection = await this.#connection();
    try {
      await connection.open();
      return connection;
    } catch (error) {
      this.#isLegacy = false;
      throw this.#startFailed(connection.channel, error);
    }
  }

  async #connection(): Promise<Connection> {
    await this.#channel?.ended;
    if (this.#isClosed) throw this.#failures.gone();
    this.#channel = this.#open();
    const parts = { name: this.#name, bounds: this.#bounds, failures: this.#failures, isLegacy: this.#isLegacy };
    return new Connection(this.#channel, parts);
  }

  #startFailed(channel: UpstreamChannel, error: unknown): ToolFailure {
    channel.fail(NO_MCP_SERVER);
    const message = error instanceof Error ? error.message : "unknown";
    return this.#noted(channel, channel.failure === NO_MCP_SERVER ? message : (channel.failure ?? message));
  }

  /** Counts a failure, once for each channel however many asked. */
  #noted(channel: UpstreamChannel, why: string): ToolFailure {
    if (this.#counted !== channel) {
      this.#counted = channel;
      this.#failed += 1;
      this.#why = why;
      const { pauseMs, pauseMsMax } = this.#bounds;
      this.#notBeforeMs = performance.now() + Math.min(pauseMs * 2 ** Math.min(this.#failed - 1, 16), pauseMsMax);
    }
    return this.#failures.broken(why);
  }
}

const LATE = "it did not answer in time";
const NO_MCP_SERVER = "it did not answer as an MCP server";
