/**
 * Reads the messages of a language server from its output.
 *
 * A message is a header with a length, and as many bytes of JSON.
 * The library's reader looks through everything again with each piece while a header has no end, which costs seconds
 * of this thread for a server that only talks. INVARIANT: each byte is looked at a bounded number of times, and what is
 * not a message ends the connection.
 */
import {
  AbstractMessageReader,
  type DataCallback,
  Disposable,
  type Message,
  type MessageReader,
} from "vscode-jsonrpc/node";
import { KIB, MIB } from "../../base/bytes.ts";

/** Bytes of a header, and of a message. */
const HEADER_BYTES_MAX = 4 * KIB;
const MESSAGE_BYTES_MAX = 8 * MIB;
const HEADER_END = Buffer.from("\r\n\r\n");

/** Messages out of pieces of output. */
export class ServerMessageReader extends AbstractMessageReader implements MessageReader {
  #callback: DataCallback | undefined;
  #header = Buffer.alloc(0);
  #body: Buffer[] = [];
  /** Bytes of the message that are still to come; `undefined` within a header. */
  #missing: number | undefined;
  #isBroken = false;

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    return Disposable.create(() => {
      this.#callback = undefined;
    });
  }

  /** Takes a piece of output. */
  take(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0 && !this.#isBroken)
      rest = this.#missing === undefined ? this.#takeHeader(rest) : this.#takeBody(rest);
  }

  #takeHeader(piece: Buffer): Buffer {
    const room = HEADER_BYTES_MAX - this.#header.length;
    const before = this.#header.length;
    const header = Buffer.concat([this.#header, piece.subarray(0, room)]);
    const end = header.indexOf(HEADER_END, Math.max(0, before - HEADER_END.length));
    if (end === -1) {
      if (header.length >= HEADER_BYTES_MAX) this.#break("a header has no end");
      this.#header = header;
      return piece.subarray(room);
    }
    const length = /^content-length: *(\d{1,9}) *$/im.exec(header.toString("latin1", 0, end))?.[1];
    if (length === undefined || Number(length) > MESSAGE_BYTES_MAX)
      this.#break("a header names no length, or too great a one");
    this.#header = Buffer.alloc(0);
    this.#missing = Number(length ?? 0);
    if (this.#missing === 0) this.#finish();
    return piece.subarray(end + HEADER_END.length - before);
  }

  #takeBody(piece: Buffer): Buffer {
    const taken = piece.subarray(0, this.#missing);
    this.#body.push(taken);
    this.#missing = (this.#missing ?? 0) - taken.length;
    if (this.#missing === 0) this.#finish();
    return piece.subarray(taken.length);
  }

  #finish(): void {
    const text = Buffer.concat(this.#body).toString("utf8");
    this.#body = [];
    this.#missing = undefined;
    try {
      const message: unknown = JSON.parse(text);
      if (typeof message !== "object" || message === null || Array.isArray(message))
        this.#break("a message is no object");
      else this.#callback?.({ jsonrpc: "2.0", ...message } as Message);
    } catch (error) {
      this.#break(error instanceof Error ? error.message : "a message is no JSON");
    }
  }

  #break(problem: string): void {
    this.#isBroken = true;
    this.fireError(new Error(problem));
  }
}
