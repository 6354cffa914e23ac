/** Reads the body of one answer of a provider, bounded, without secrets, and ends the record of it. */
import type { Dispatcher } from "undici";
import { KIB, MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { Replacements } from "../broker/scrub.ts";
import { Scrubber } from "../broker/scrub.ts";
import { OpenEvent } from "../fetch/open-event.ts";
import type { Attempt } from "../gate/attempt.ts";

/** Bytes of an answer: a million tokens, each as an event of its own. */
const MODEL_ANSWER_BYTES_MAX = 512 * MIB;
/** Bytes of one event of it, which is held until it is whole. */
const MODEL_EVENT_BYTES_MAX = MIB;
/** Bytes that are read of an answer which is none. */
const REFUSAL_BYTES_MAX = 64 * KIB;

/** What a body is read with. */
export interface Receiving {
  readonly attempt: Attempt;
  /** Bytes that were sent. */
  readonly sent: number;
  /** Names of secrets that went along. */
  readonly secrets: readonly string[];
  readonly replacements: Replacements | undefined;
  /** Says what went wrong, and ends the attempt by it. */
  readonly failed: (error: unknown) => unknown;
}

/** Reads the body of one try, and ends the record of it. */
export class Received {
  readonly #body: Dispatcher.ResponseData["body"];
  readonly #with: Receiving;
  #bytes = 0;

  constructor(body: Dispatcher.ResponseData["body"], receiving: Receiving) {
    this.#body = body;
    this.#with = receiving;
    body.on("error", () => undefined); // whoever reads is told
  }

  /** As much of the body as says what is wrong. */
  async beginning(): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.#body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      this.#bytes += piece.length;
      if (this.#bytes >= REFUSAL_BYTES_MAX) break;
    }
    this.close();
    return Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString();
  }

  /** The body, without values of secrets. @param isEvents it comes as events (`text/event-stream`) */
  async *all(isEvents: boolean): AsyncGenerator<Uint8Array> {
    const { replacements, failed } = this.#with;
    const scrubber = replacements && new Scrubber(replacements);
    const open = new OpenEvent();
    try {
      for await (const piece of this.#body as AsyncIterable<Buffer>) {
        this.#bytes += piece.length;
        if (this.#bytes > MODEL_ANSWER_BYTES_MAX || (isEvents && open.after(piece) > MODEL_EVENT_BYTES_MAX))
          throw new ToolFailure("OUTPUT_LIMIT", "the provider's answer does not end", "ask for fewer tokens");
        yield scrubber === undefined ? piece : scrubber.push(piece);
        // no value goes on behind the end of a line
        if (scrubber !== undefined && piece.at(-1) === LINE_FEED) yield scrubber.flush();
      }
      if (scrubber !== undefined) yield scrubber.flush();
    } catch (error) {
      this.#moved();
      throw failed(error);
    } finally {
      this.close();
    }
  }

  /** Ends body and record; what comes later is nobody's. */
  close(): void {
    this.#body.destroy();
    this.#moved();
    const { attempt, secrets } = this.#with;
    attempt.end("allowed", undefined, secrets.length === 0 ? {} : { secrets });
  }

  #moved(): void {
    this.#with.attempt.moved(this.#with.sent, this.#bytes);
  }
}

const LINE_FEED = 10;
