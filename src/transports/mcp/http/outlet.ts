/**
 * Writes one HTTP response: a whole JSON text, or a stream of server-sent events.
 *
 * INVARIANTS: a peer that reads nothing for as long as the stall limit loses its connection; whatever happens, `over`
 * resolves. What comes after the end is dropped.
 */
import type { HttpResponse } from "./http-types.ts";

/** What both versions of HTTP have in common, in types that fit both. */
interface Writing {
  readonly destroyed?: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  on(event: string, listener: () => void): unknown;
}

/** Sent with every answer: nothing here is for a browser, and nothing may be kept. */
const ALWAYS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** One response. */
export class Outlet {
  /** Resolves when the response has left or its peer is gone. */
  readonly over: Promise<void>;
  readonly #given: HttpResponse;
  readonly #response: Writing;
  readonly #stallMs: number;
  #state: "fresh" | "streaming" | "ended" = "fresh";
  #isBehind = false;
  #late: NodeJS.Timeout | undefined;
  #onGone: (() => void) | undefined;

  constructor(response: HttpResponse, stallMs: number) {
    this.#given = response;
    this.#response = response;
    this.#stallMs = stallMs;
    this.over = new Promise((resolve) => {
      this.#response.on("finish", () => {
        clearTimeout(this.#late);
        resolve();
      });
      this.#response.on("close", () => {
        clearTimeout(this.#late);
        const wasOpen = this.#state !== "ended";
        this.#state = "ended";
        if (wasOpen) this.#onGone?.();
        resolve();
      });
    });
    this.#response.on("drain", () => {
      clearTimeout(this.#late);
      this.#isBehind = false;
    });
    this.#response.on("error", () => undefined); // the peer is gone; `close` follows
  }

  /** Called when the peer leaves before the end. */
  set onGone(listener: () => void) {
    this.#onGone = listener;
  }

  /** Whether something can be written. */
  get isOpen(): boolean {
    return this.#state !== "ended";
  }

  /** Whether the response has become a stream of events. */
  get isStreaming(): boolean {
    return this.#state === "streaming";
  }

  /** Whether the peer reads more slowly than is written to it. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Answers with a whole JSON text. */
  json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    this.#whole(status, Buffer.from(text), { "content-type": "application/json", ...headers });
  }

  /** Answers without a body. */
  bare(status: number, headers: Readonly<Record<string, string>> = {}): undefined {
    this.#whole(status, Buffer.alloc(0), headers);
  }

  /** Begins a stream of events. */
  beginStream(headers: Readonly<Record<string, string>> = {}): void {
    if (this.#state !== "fresh") return;
    this.#state = "streaming";
    this.#response.writeHead(200, {
      ...ALWAYS,
      "content-type": "text/event-stream",
      "x-accel-buffering": "no", // a proxy that collects the stream would keep back every note
      ...headers,
    });
    if ("flushHeaders" in this.#given) this.#given.flushHeaders();
  }

  /** Sends one event; its data are one line of JSON, or empty. */
  event(data: string, { id, retryMs }: { readonly id?: string; readonly retryMs?: number } = {}): void {
    const named = id === undefined ? "" : `id: ${id}\n`;
    const retry = retryMs === undefined ? "" : `retry: ${retryMs}\n`;
    this.#write(`${data === "" ? "" : "event: message\n"}${named}${retry}data: ${data}\n\n`);
  }

  /** Sends a comment, so that nobody on the way takes the stream for dead. */
  keepAlive(): void {
    if (!this.#isBehind) this.#write(": \n\n");
  }

  /** Ends a stream. */
  end(): void {
    if (this.#state !== "streaming") return;
    this.#state = "ended";
    this.#response.end();
    this.#watch();
  }

  /** Cuts the connection or stream off. */
  destroy(): void {
    if ("stream" in this.#given) this.#given.stream?.destroy();
    else this.#given.destroy();
  }

  #whole(status: number, bytes: Buffer, headers: Readonly<Record<string, string>>): void {
    if (this.#state !== "fresh") return;
    this.#state = "ended";
    this.#response.writeHead(status, { ...ALWAYS, "content-length": String(bytes.byteLength), ...headers });
    if (bytes.byteLength > 0) this.#response.write(bytes);
    this.#response.end();
    if (bytes.byteLength > UNWATCHED_BYTES_MAX) this.#watch();
  }

  #write(text: string): void {
    if (this.#state !== "streaming") return;
    if (this.#response.write(Buffer.from(text)) || this.#isBehind) return;
    this.#isBehind = true;
    this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.destroy(), this.#stallMs);
    this.#late.unref();
  }
}

/** Bytes of an answer that the system takes at once, so that no timer is spent on it. */
const UNWATCHED_BYTES_MAX = 64 * 1024;
