/**
 * Passes on what a server answers that a secret is bound to.
 *
 * INVARIANTS: what reaches the client has been looked through, unpacked where it came packed; an answer that cannot be
 * looked through is not begun.
 */
import type { ServerResponse } from "node:http";
import { pipeline, Transform } from "node:stream";
import type { Dispatcher } from "undici";
import { KIB } from "../../../base/bytes.ts";
import { type Replacements, Scrubber } from "../broker/scrub.ts";
import { PackedBeyondReason, unpacked } from "../fetch/packings.ts";
import { type EgressRefusal, failed } from "../gate/admission.ts";
import { answeredHeaders } from "./proxy-request.ts";

/** Bytes of an answer that is passed on in one piece, once it is there. */
const ONE_PIECE_BYTES_MAX = 64 * KIB;

/** Milliseconds after which what is held back of a stream leaves, when nothing follows. */
const HELD_MS = 200;

type Answer = Dispatcher.ResponseData;

/** How an answer is passed on. */
export interface Passing {
  readonly response: ServerResponse;
  /** Nothing is looked for when absent. */
  readonly replacements: Replacements | undefined;
  readonly isHead: boolean;
}

/** Ends with the answer, whichever side ends it; why it was not begun, or not passed on to its end by the proxy. */
export async function passAnswer(answer: Answer, passing: Passing): Promise<EgressRefusal | undefined> {
  const { response, replacements, isHead } = passing;
  const raw = (answer.headers as unknown as readonly (string | Buffer)[]).map(String);
  const packing = headerIn(raw, /^content-encoding$/i);
  const framing = headerIn(raw, /^transfer-encoding$/i);
  const isPacked = packing !== "" && packing !== "identity";
  const closed = new Promise<void>((resolve) =>
    response.closed ? resolve() : response.once("close", () => resolve()),
  );
  const headers = answeredHeaders(raw);
  const hasNoBody = isHead || answer.statusCode === 204 || answer.statusCode === 304;
  if (replacements === undefined || hasNoBody) {
    const scrubbed = replacements === undefined ? headers : headers.map((text) => replacements.in(text));
    if (!begun(answer, response, scrubbed)) return UNWRITABLE;
    pipeline(answer.body, response, () => undefined); // both ends are watched
    await closed;
    return undefined;
  }
  const body = isPacked ? unpacked(answer.body, packing) : answer.body;
  if (body === undefined || !["", "chunked"].includes(framing)) {
    answer.body.destroy();
    return failed("no_answer", "the answer is packed in a way that cannot be looked through; ask for none");
  }
  const kept = headers
    .filter((_, at) => !/^content-(?:length|encoding)$/i.test(headers[at - (at % 2)] ?? ""))
    .map((text) => replacements.in(text));
  const length = headerIn(raw, /^content-length$/i);
  if (!isPacked && length !== "" && Number(length) <= ONE_PIECE_BYTES_MAX) {
    const text = Buffer.from(await answer.body.arrayBuffer()).toString("latin1");
    const whole = Buffer.from(replacements.in(text), "latin1");
    if (!begun(answer, response, [...kept, "Content-Length", String(whole.length)])) return UNWRITABLE;
    response.end(whole);
    await closed;
    return undefined;
  }
  if (!begun(answer, response, kept)) return UNWRITABLE;
  let broken: unknown;
  pipeline(body, scrubbing(replacements), response, (error) => {
    broken = error;
  });
  await closed;
  return broken instanceof PackedBeyondReason ? BEYOND_REASON : undefined;
}

/** Writes the head; `false` where it holds what no answer may, though it could be read. */
function begun(answer: Answer, response: ServerResponse, headers: readonly string[]): boolean {
  response.sendDate = false;
  try {
    response.writeHead(answer.statusCode, [...headers]);
    return true;
  } catch {
    answer.body.destroy();
    return false;
  }
}

const BEYOND_REASON = failed("too_many_bytes", "the answer unpacks to more than anybody would send");
const UNWRITABLE = failed("no_answer", "the answer holds what no answer may");

/** What is held back leaves when nothing has followed for a while, whatever it is: streams of events go on. */
function scrubbing(replacements: Replacements): Transform {
  const scrubber = new Scrubber(replacements);
  let timer: NodeJS.Timeout | undefined;
  return new Transform({
    transform(piece: Buffer, _, done) {
      clearTimeout(timer);
      timer = setTimeout(() => this.push(scrubber.flush()), HELD_MS);
      done(null, scrubber.push(piece));
    },
    flush(done) {
      clearTimeout(timer);
      done(null, scrubber.flush());
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
}

/** The values of all headers of that name, in lower case; empty where there is none. */
function headerIn(raw: readonly string[], name: RegExp): string {
  return raw
    .flatMap((text, index) => (index % 2 === 0 && name.test(text) ? [(raw[index + 1] ?? "").trim().toLowerCase()] : []))
    .join(", ");
}
