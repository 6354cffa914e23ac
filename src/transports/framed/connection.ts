/**
 * One connection of the framed socket: frames in, calls in flight, answers out as they come.
 *
 * It trusts nobody. Calls wait unread when too many are in flight, when their requests are too large together, or when
 * the peer does not read its answers; a frame must be complete within the stall limit, and answers must be read within
 * it. INVARIANT: a peer that is gone has its calls aborted; a stream that lost its place is answered once and closed.
 */
import type { Socket } from "node:net";
import { MESSAGES_PER_TURN_MAX } from "../../base/limits.ts";
import { FrameReader, frameSize, WireError, writeFrame } from "../../wire/index.ts";
import { errorAnswer, thrownAnswer, undecodableAnswer } from "./answers.ts";
import type { FramedLimits } from "./limits.ts";

/** What a connection asks of its server. */
export interface ConnectionHost {
  readonly execute: (request: Uint8Array, end: AbortController) => Promise<Uint8Array>;
  readonly limits: FramedLimits;
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
  /** Accounts for a change of the bytes this connection holds; whether all connections together may hold them. */
  readonly hold: (changeBytes: number) => boolean;
  readonly onGone: (connection: Connection) => void;
}

/** One peer. */
export class Connection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  #reader: FrameReader;
  readonly #calls = new Set<AbortController>();
  #requestBytes = 0;
  #heldBytes = 0;
  #outbox: Uint8Array[] = [];
  #outboxBytes = 0;
  #flushing = false;
  #paused = false;
  /** No further frame is taken; the connection ends when its calls have been answered. */
  #ending = false;
  #gone = false;
  /** Since when a frame has been incomplete, answers have been unread, or the end has been waited for. */
  #frameSinceMs: number | undefined;
  #unreadSinceMs: number | undefined;
  #endedSinceMs: number | undefined;

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#reader = new FrameReader(host.limits.frameBytesMax);
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("drain", () => {
      this.#unreadSinceMs = undefined;
      this.#take();
    });
    socket.on("end", () => this.#leave());
    socket.on("error", () => this.#leave()); // the peer is gone; `close` follows
    socket.on("close", () => this.#leave());
  }

  /** Answers once and closes, without having read anything. */
  refuse(answer: Uint8Array): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#frameSinceMs = undefined;
    this.#reader = new FrameReader(0); // lets go of a frame in the making
    this.#answer(answer);
    this.#socket.resume();
  }

  /** Takes no more calls, aborts those in flight, and ends when they have answered. */
  shutDown(): void {
    this.#ending = true;
    for (const call of this.#calls) call.abort();
    this.#scheduleFlush();
  }

  /** Whether all its calls have answered. */
  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  /** Drops the connection now. */
  destroy(): void {
    this.#socket.destroy();
    this.#leave();
  }

  /** Called now and then: ends a connection whose peer stalls. */
  sweep(nowMs: number): void {
    const { stallMs } = this.#host.limits;
    const stalled = (sinceMs: number | undefined) => sinceMs !== undefined && nowMs - sinceMs >= stallMs;
    if (stalled(this.#unreadSinceMs) || stalled(this.#endedSinceMs)) this.destroy();
    else if (stalled(this.#frameSinceMs)) {
      this.refuse(
        errorAnswer("TIMEOUT", `a frame was not complete within ${stallMs} ms; send frames whole`, { retryAfterMs: 1 }),
      );
    }
  }

  #receive(bytes: Buffer): void {
    if (this.#ending) return; // discarded, so that the peer can finish writing and read why
    this.#reader.push(bytes);
    this.#take();
  }

  /** Starts the calls of whole frames for as long as there is room, then reads on or waits. */
  #take(): void {
    if (this.#ending || this.#gone) return;
    let taken = 0;
    try {
      while (taken < MESSAGES_PER_TURN_MAX && !this.#isFull()) {
        const request = this.#reader.next();
        if (request === undefined) break;
        taken += 1;
        this.#start(request);
      }
    } catch (error) {
      if (error instanceof WireError) this.refuse(undecodableAnswer("", error));
      else {
        this.#host.onError(error);
        this.destroy();
      }
      return;
    }
    // The answers of these leave before the next frames are looked at, so that peer and kernel work at the same time.
    const cut = taken === MESSAGES_PER_TURN_MAX;
    if (cut) setImmediate(() => this.#take());
    this.#setPaused(cut || this.#isFull());
    if (this.#paused || !this.#reader.midFrame) this.#frameSinceMs = undefined;
    else if (taken > 0 || this.#frameSinceMs === undefined) this.#frameSinceMs = this.#host.nowMs();
    if (!this.#account() && this.#reader.midFrame) {
      this.refuse(
        errorAnswer("RESOURCE_BUSY", "too many large requests are in flight; try again later", { retryAfterMs: 1000 }),
      );
    }
  }

  #isFull(): boolean {
    const { callsInFlightMax, frameBytesMax, outputBytesMax } = this.#host.limits;
    if (this.#calls.size >= callsInFlightMax || this.#requestBytes >= frameBytesMax) return true;
    return this.#socket.writableLength + this.#outboxBytes > outputBytesMax;
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  #account(): boolean {
    const heldBytes = this.#gone ? 0 : this.#reader.heldBytes + this.#requestBytes;
    const change = heldBytes - this.#heldBytes;
    this.#heldBytes = heldBytes;
    return this.#host.hold(change);
  }

  #start(request: Uint8Array): void {
    const call = new AbortController();
    this.#calls.add(call);
    this.#requestBytes += request.byteLength;
    const settle = (answer: Uint8Array) => {
      this.#calls.delete(call);
      this.#requestBytes -= request.byteLength;
      this.#answer(answer);
    };
    this.#execute(request, call).then(settle, (error: unknown) => {
      if (!(error instanceof WireError)) this.#host.onError(error);
      settle(thrownAnswer(request, error));
    });
  }

  /** A call that throws at once fails like one that rejects. */
  async #execute(request: Uint8Array, end: AbortController): Promise<Uint8Array> {
    return this.#host.execute(request, end);
  }

  #answer(answer: Uint8Array): void {
    if (this.#gone) return;
    this.#outbox.push(answer);
    this.#outboxBytes += frameSize(answer.byteLength);
    this.#scheduleFlush();
  }

  /** Answers of one turn of the event loop leave in one write. */
  #scheduleFlush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#gone) return;
    if (this.#outbox.length > 0) {
      const bytes = Buffer.allocUnsafe(this.#outboxBytes);
      let offset = 0;
      for (const answer of this.#outbox) offset = writeFrame(bytes, offset, answer);
      this.#outbox = [];
      this.#outboxBytes = 0;
      this.#socket.write(bytes);
    }
    if (this.#socket.writableLength > this.#host.limits.outputBytesMax) this.#unreadSinceMs ??= this.#host.nowMs();
    this.#account();
    if (!this.#ending) {
      if (this.#paused) this.#take();
    } else if (this.#calls.size === 0 && this.#endedSinceMs === undefined) {
      this.#endedSinceMs = this.#host.nowMs();
      this.#socket.end();
    }
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#account();
    for (const call of this.#calls) call.abort();
    this.#host.onGone(this);
  }
}
