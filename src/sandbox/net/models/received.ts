/** Reads the body of one answer of a provider, bounded, without secrets, and ends the record of it. */
import type { Dispatcher } from "undici";
import { KIB, MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { Scrubber } from "../broker/scrub.ts";
import type { Attempt } from "../gate/attempt.ts";

/** Bytes of an answer: a million tokens, each as an event of its own. */
const MODEL_ANSWER_BYTES_MAX = 512 * MIB;
/** Bytes that are read of an answer which is none. */
const REFUSAL_BYTES_MAX = 64 * KIB;

/** Reads the body of one try, and ends the record of it. */
export class Received {
  readonly #attempt: Attempt;
  readonly #sent: number;
  readonly #secrets: readonly string[];
  readonly #failed: (error: unknown) => unknown;
  #bytes = 0;

  constructor(
    attempt: Attempt,
    {
      sent,
      secrets,
      failed,
    }: {
      readonly sent: number;
      readonly secrets: readonly string[];
      readonly failed: (error: unknown) => unknown;
    },
  ) {
    this.#attempt = attempt;
    this.#sent = sent;
    this.#secrets = secrets;
    this.#failed = failed;
  }

  /** As much of the body as says what is wrong. */
  async beginning(body: Dispatcher.ResponseData["body"]): Promise<string> {
    const pieces: Buffer[] = [];
    body.on("error", () => undefined); // it is over
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      this.#bytes += piece.length;
      if (this.#bytes >= REFUSAL_BYTES_MAX) break;
    }
    body.destroy();
    this.#end();
    return Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString();
  }

  /** The body, without values of secrets. */
  async *all(body: Dispatcher.ResponseData["body"], scrubber: Scrubber | undefined): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        this.#bytes += piece.length;
        if (this.#bytes > MODEL_ANSWER_BYTES_MAX)
          throw new ToolFailure("OUTPUT_LIMIT", "the provider's answer does not end", "ask for fewer tokens");
        yield scrubber === undefined ? piece : scrubber.push(piece);
      }
      if (scrubber !== undefined) yield scrubber.flush();
      this.#end();
    } catch (error) {
      this.#attempt.moved(this.#sent, this.#bytes);
      throw this.#failed(error);
    } finally {
      body.destroy();
      this.#end();
    }
  }

  #end(): void {
    this.#attempt.moved(this.#sent, this.#bytes);
    this.#attempt.end("allowed", undefined, this.#secrets.length === 0 ? {} : { secrets: this.#secrets });
  }
}
