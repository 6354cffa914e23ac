/**
 * Takes in the body of each method before the RPC library sees it.
 *
 * A tool call's message goes to the kernel as it came (`raw-request.ts`). Every other single message is read whole. An
 * upload is read one message at a time, and the first of them is small.
 *
 * INVARIANT: whatever is read is bounded in bytes and in time and accounted for, however small its pieces are and
 * whatever its headers say.
 */
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { BodyBuffer, type Hold, tooLarge } from "./body-buffer.ts";
import type { ConnectLimits } from "./limits.ts";
import { paced, UploadPace, wholeWithin } from "./pace.ts";
import {
  type BodyForm,
  bodyForm,
  captureMessage,
  checkCompression,
  ENVELOPE_HEAD_BYTES,
  lengthOf,
} from "./raw-request.ts";
import { malformed } from "./refusal.ts";

/** What a method's body is: a tool call, one message of at most so many bytes, or an upload in messages. */
export type Intake =
  | { readonly kind: "call" }
  | { readonly kind: "message"; readonly bytesMax: number }
  | { readonly kind: "upload"; readonly firstBytesMax: number; readonly bytesMax: number };

/** The message of a tool call as it came. */
export interface RawMessage {
  readonly format: "proto" | "json";
  readonly bytes: Uint8Array;
}

/** What taking in asks of its surroundings. */
export interface IntakeHost {
  readonly limits: ConnectLimits;
  readonly hold: Hold;
  /**
   * What the method takes: a message that is none is refused here, because the library calls that an internal error.
   */
  readonly input: DescMessage;
  /** Takes the message of a tool call. */
  readonly keep: (message: RawMessage) => void;
}

/** A request whose body is a stream. */
type StreamedRequest = UniversalServerRequest & { readonly body: AsyncIterable<Uint8Array> };

/** The request as the library is to see it. Reading its body throws a ConnectError when that breaks a bound. */
export function takeIn(given: StreamedRequest, intake: Intake, host: IntakeHost): StreamedRequest {
  const form = bodyForm(given.header.get("content-type") ?? undefined);
  if (intake.kind === "upload")
    return { ...given, body: readable(messagesOf(given.body, intake, host), form, host.input) };
  const { limits, hold, keep } = host;
  const bytesMax = intake.kind === "call" ? limits.requestBytesMax : intake.bytesMax;
  const declared = Number(given.header.get("content-length") ?? 0);
  const body = declared > bytesMax + ENVELOPE_HEAD_BYTES ? refusing(bytesMax) : paced(given.body, wholeWithin(limits));
  if (intake.kind === "message" || form === undefined)
    return { ...given, body: readable(whole(body, bytesMax, hold), form, host.input) };
  const header = new Headers(given.header);
  header.delete("content-length"); // it tells of the message that the library does not see
  const kept = (bytes: Uint8Array) => keep({ format: form.format, bytes });
  return { ...given, header, body: captureMessage(body, form, { requestBytesMax: bytesMax, hold, keep: kept }) };
}

/** Bodies of one message each, which must be one. What is wrong with an envelope the library says. */
async function* readable(
  bodies: AsyncIterable<Uint8Array>,
  form: BodyForm | undefined,
  input: DescMessage,
): AsyncGenerator<Uint8Array> {
  for await (const body of bodies) {
    if (form?.framing === "enveloped" && body.byteLength > 0) checkCompression(body);
    const message = form?.format === "proto" ? plainMessage(body, form) : undefined;
    if (message !== undefined && !isMessage(message, input))
      throw malformed(`the request is no \`${input.name}\`; encode it by the contract (\`handrail wire descriptor\`)`);
    yield body;
  }
}

/** The message of a body that is nothing but one message, uncompressed. */
function plainMessage(body: Uint8Array, { framing }: BodyForm): Uint8Array | undefined {
  if (framing === "whole") return body;
  const isPlain =
    body.byteLength >= ENVELOPE_HEAD_BYTES && body[0] === 0 && lengthOf(body) === body.byteLength - ENVELOPE_HEAD_BYTES;
  return isPlain ? body.subarray(ENVELOPE_HEAD_BYTES) : undefined;
}

function isMessage(bytes: Uint8Array, input: DescMessage): boolean {
  try {
    fromBinary(input, bytes);
    return true;
  } catch {
    return false; // whatever it is that the decoder does not take, it is no message
  }
}

/** A body that is refused for the length that it declares, unread. */
async function* refusing(bytesMax: number): AsyncGenerator<Uint8Array> {
  yield* [];
  throw tooLarge(bytesMax);
}

async function* whole(body: AsyncIterable<Uint8Array>, bytesMax: number, hold: Hold): AsyncGenerator<Uint8Array> {
  const collected = new BodyBuffer(bytesMax + ENVELOPE_HEAD_BYTES, hold);
  for await (const piece of body) collected.add(piece);
  yield collected.bytes;
}

/** Envelopes one by one, each whole: the library would copy what it has with every piece. */
async function* messagesOf(
  body: AsyncIterable<Uint8Array>,
  { firstBytesMax, bytesMax }: Extract<Intake, { kind: "upload" }>,
  { limits, hold }: IntakeHost,
): AsyncGenerator<Uint8Array> {
  const pace = new UploadPace(limits);
  const collected = new BodyBuffer(bytesMax + ENVELOPE_HEAD_BYTES, hold);
  let wanted = ENVELOPE_HEAD_BYTES;
  let messageBytesMax = firstBytesMax;
  for await (const piece of paced(body, pace)) {
    for (let offset = 0; offset < piece.byteLength; ) {
      const part = piece.subarray(offset, offset + wanted - collected.size);
      offset += part.byteLength;
      collected.add(part);
      if (collected.size < wanted) break;
      if (wanted === ENVELOPE_HEAD_BYTES) {
        const length = lengthOf(collected.bytes);
        if (length > messageBytesMax) throw tooLarge(messageBytesMax);
        wanted += length;
        if (length > 0) continue;
      }
      yield collected.bytes;
      collected.release();
      wanted = ENVELOPE_HEAD_BYTES;
      messageBytesMax = bytesMax;
      pace.nextMessage();
    }
  }
  // The library says what is wrong with a message that is cut off.
  if (collected.size > 0) yield collected.bytes;
}
