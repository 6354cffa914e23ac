/**
 * Relays MCP's lines between a client at standard streams and a kernel that serves elsewhere.
 *
 * It reads of a message who asks and who is answered, and nothing else. A connection that is lost is opened again with
 * the next line; a legacy handshake is repeated then, whose answer stays here.
 *
 * INVARIANTS: every request is answered once: by the kernel, or here when the kernel went away with it. What was sent
 * is never sent again, since it may have taken effect. What waits is bounded by not reading on.
 */
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { isJsonObject } from "../../../base/json.ts";
import { LINE_BYTES_MAX } from "../../../base/limits.ts";
import { isRequestId } from "../protocol/json-rpc.ts";
import { INTERNAL_ERROR, printError } from "../protocol/rpc-error.ts";
import type { LinesConnection } from "./lines-connection.ts";
import { lines } from "./lines-of.ts";

/** Milliseconds between attempts to reach a kernel that is away, and how many there are for one line. */
const RETRY_MS = [100, 300, 1_000, 2_000];

/** Id of the handshake that is repeated; its answer stays here. */
const REPEATED = "handrail: the handshake once more";

/** What a relay is bound to. */
export interface RelayHost {
  readonly open: () => Promise<LinesConnection>;
  readonly report: (problem: string) => void;
  readonly retryMs?: readonly number[];
}

/** A relay of one client. */
export class LineRelay {
  readonly #host: RelayHost;
  readonly #output: Writable;
  readonly #waiting = new Set<string | number>();
  #handshake: readonly Buffer[] = [];
  #connection: LinesConnection | undefined;
  #served: Promise<void> = Promise.resolve();

  constructor(host: RelayHost, output: Writable) {
    this.#host = host;
    this.#output = output;
  }

  /** Relays until the client is gone. */
  async run(input: Readable): Promise<void> {
    for await (const line of lines(input, LINE_BYTES_MAX)) {
      if (line.byteLength > 0) await this.#forward(line);
    }
    this.#connection?.output.end();
    await this.#served;
  }

  async #forward(line: Buffer): Promise<void> {
    const message = parsed(line);
    const ids = requestIds(message);
    const connection = await this.#connected().catch((error: unknown) => this.#fail(ids, error));
    if (connection === undefined) return;
    for (const id of ids) this.#waiting.add(id);
    this.#remember(message, line);
    if (!write(connection.output, line)) await drained(connection.output);
  }

  /** Keeps the handshake, so that a further connection begins with it. */
  #remember(message: unknown, line: Buffer): void {
    const method = isJsonObject(message) ? message["method"] : undefined;
    if (method === "initialize")
      this.#handshake = [Buffer.from(JSON.stringify({ ...(message as object), id: REPEATED }))];
    else if (method === "notifications/initialized") this.#handshake = [...this.#handshake.slice(0, 1), line];
  }

  async #connected(): Promise<LinesConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const connection = await this.#open();
    this.#connection = connection;
    this.#served = this.#serve(connection);
    for (const line of this.#handshake) write(connection.output, line);
    return connection;
  }

  async #open(): Promise<LinesConnection> {
    for (const waitMs of this.#host.retryMs ?? RETRY_MS)
      try {
        return await this.#host.open();
      } catch (error) {
        this.#host.report(problemOf(error));
        await pause(waitMs);
      }
    return this.#host.open();
  }

  async #serve(connection: LinesConnection): Promise<void> {
    try {
      for await (const line of lines(connection.input, LINE_BYTES_MAX)) await this.#take(line);
    } catch (error) {
      this.#host.report(problemOf(error));
    }
    connection.output.destroy();
    if (this.#connection === connection) this.#connection = undefined;
    const lost = [...this.#waiting];
    this.#waiting.clear();
    for (const id of lost) write(this.#output, printError(id, LOST));
  }

  async #take(line: Buffer): Promise<void> {
    const ids = answeredIds(parsed(line));
    for (const id of ids) this.#waiting.delete(id);
    if (ids.length === 1 && ids[0] === REPEATED) return;
    if (!write(this.#output, line)) await drained(this.#output);
  }

  #fail(ids: readonly (string | number)[], error: unknown): undefined {
    const message = problemOf(error);
    this.#host.report(message);
    for (const id of ids) write(this.#output, printError(id, { code: INTERNAL_ERROR, message }));
  }
}

const LOST = {
  code: INTERNAL_ERROR,
  message:
    "the kernel went away before it answered; whether the call took effect is not known: look before you repeat it",
};

function write(stream: Writable, line: Buffer | string): boolean {
  stream.cork();
  stream.write(line);
  const takesMore = stream.write("\n");
  stream.uncork();
  return takesMore;
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    return undefined; // the kernel says what is wrong with it
  }
}

function requestIds(message: unknown): readonly (string | number)[] {
  if (Array.isArray(message)) return message.flatMap((each: unknown) => requestIds(each));
  if (!isJsonObject(message) || typeof message["method"] !== "string") return [];
  return isRequestId(message["id"]) ? [message["id"]] : [];
}

function answeredIds(message: unknown): readonly (string | number)[] {
  if (Array.isArray(message)) return message.flatMap((each: unknown) => answeredIds(each));
  if (!isJsonObject(message) || "method" in message) return [];
  return isRequestId(message["id"]) ? [message["id"]] : [];
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves when the stream takes more, or never will. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off("drain", settle).off("close", settle).off("error", settle);
      resolve();
    };
    stream.once("drain", settle).once("close", settle).once("error", settle);
  });
}
