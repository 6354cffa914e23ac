/**
 * Carries the messages of one upstream server's process, and bounds what it may cost.
 *
 * INVARIANT: a server that says more than it may, or anything but lines of JSON-RPC, is ended with its sandbox.
 */

import type { Writable } from "node:stream";
import { type JSONRPCMessage, ReadBuffer, serializeMessage } from "@modelcontextprotocol/client";
import { MIB } from "../../../base/bytes.ts";
import type { RunOutput } from "../../../sandbox/run/launch.ts";
import type { UpstreamChannel } from "./channel.ts";
import { MESSAGE_BYTES_MAX, SaidBounds } from "./said-bounds.ts";

/** Bytes that wait because it does not read. */
const UNREAD_BYTES_MAX = 16 * MIB;
const LINE_END = 0x0a;
/** Pieces of one line; each costs memory beside its bytes. */
const PIECES_MAX = 65_536;
/** Characters of its errors that are kept. */
const ERRORS_CHARACTERS_MAX = 400;

/** How its process is started; resolves when nothing of it is left. */
export type StartUpstream = (streams: {
  readonly input: (writer: Writable) => void;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
}) => Promise<{ readonly exitCode: number | undefined; readonly endedBy: string | undefined }>;

/** The process of one server, as the client library speaks with it. */
export class UpstreamProcess implements UpstreamChannel {
  readonly #start: StartUpstream;
  readonly #ending = new AbortController();
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX });
  readonly #input = Promise.withResolvers<Writable>();
  /** Its sandbox ends with it. */
  readonly endsWork = true;
  /** What has come of a line that has no end yet. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  readonly #said = new SaidBounds((why) => this.fail(why));
  #errors = "";
  #failure: string | undefined;
  /** Settled once nothing of the process is left. */
  ended: Promise<void> = Promise.resolve();
  onclose?: (() => void) | undefined;
  onmessage?: UpstreamChannel["onmessage"];
  onerror?: ((error: Error) => void) | undefined;

  constructor(start: StartUpstream) {
    this.#start = start;
    this.#input.promise.catch(() => undefined); // told to whoever sends
  }

  /** Why it answers no more. */
  get failure(): string | undefined {
    return this.#failure;
  }

  async start(): Promise<void> {
    this.ended = this.#run();
    await this.#input.promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = await this.#input.promise;
    if (this.#failure !== undefined) throw new Error(this.#failure);
    input.write(serializeMessage(message));
    if (input.writableLength > UNREAD_BYTES_MAX) this.fail("it does not read what it is told");
  }

  async close(): Promise<void> {
    this.fail("it was ended");
    await this.ended;
  }

  /** What it said before counts no more; it may say as much for each open question. */
  reset(questions: number): void {
    this.#said.reset(questions);
  }

  /** It said something that answers nothing. */
  stray(): void {
    this.#said.stray();
  }

  /** Ends it; the first failure stays. */
  fail(why: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = why;
    this.#input.reject(new Error(why));
    this.#ending.abort();
    this.onclose?.();
  }

  async #run(): Promise<void> {
    try {
      const { exitCode, endedBy } = await this.#start({
        input: (writer) => {
          writer.on("error", () => this.fail("it does not read what it is told"));
          this.#input.resolve(writer);
        },
        output: { stdout: (piece) => this.#take(piece), stderr: (piece) => this.#takeErrors(piece) },
        signal: this.#ending.signal,
      });
      const words = this.#errors.replace(/[^\x20-\x7e]+/g, " ").trim();
      this.fail(`it ended (${endedBy ?? `exit code ${exitCode ?? "unknown"}`})${words === "" ? "" : `: ${words}`}`);
    } catch (error) {
      this.fail(`it could not be started: ${error instanceof Error ? error.message : "unknown"}`);
    }
  }

  #take(piece: Uint8Array): void {
    if (this.#failure !== undefined || this.#said.isTooMuch(piece.length)) return;
    // the library's buffer copies all that it has with each piece: it gets whole lines
    this.#line.push(Buffer.from(piece));
    this.#lineBytes += piece.length;
    if (this.#lineBytes > MESSAGE_BYTES_MAX || this.#line.length > PIECES_MAX)
      this.fail("it said what no MCP server says: a line without an end");
    if (this.#failure !== undefined || !piece.includes(LINE_END)) return;
    try {
      this.#buffer.append(Buffer.concat(this.#line));
      this.#line = [];
      this.#lineBytes = 0;
      for (;;) {
        const message = this.#buffer.readMessage();
        if (message === null || this.#failure !== undefined) return;
        this.onmessage?.(message);
      }
    } catch {
      this.fail("it said what no MCP server says");
    }
  }

  #takeErrors(piece: Uint8Array): void {
    if (this.#said.isTooMuch(piece.length) || this.#errors.length >= ERRORS_CHARACTERS_MAX) return;
    this.#errors = (this.#errors + Buffer.from(piece).toString("latin1")).slice(0, ERRORS_CHARACTERS_MAX);
  }
}
