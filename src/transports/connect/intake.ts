/**
 * How the body of each method is taken in before the RPC library sees it.
 *
 * A tool call's message goes to the kernel as it came (`raw-request.ts`). Every other single message is read whole, and
 * of an upload one message at a time, the first of which is small. INVARIANT: whatever is read is bounded in bytes and in time and
 * accounted for, however small its pieces are and whatever its headers say.
 */
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { BodyBuffer, type Hold, tooLarge } from "./body-buffer.ts";
import type { ConnectLimits } from "./limits.ts";
import { paced, UploadPace, wholeWithin } from "./pace.ts";
import { bodyForm, captureMessage, ENVELOPE_HEAD_BYTES, lengthOf } from "./raw-request.ts";

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
  /** Takes the message of a tool call. */
  readonly keep: (message: RawMessage) => void;
}

/** A request whose body is a stream. */
type StreamedRequest = UniversalServerRequest & { readonly body: AsyncIterable<Uint8Array> };

/** The request as the library is to see it. Reading its body throws a ConnectError when that breaks a bound. */
export function takeIn(given: StreamedRequest, intake: Intake, host: IntakeHost): StreamedRequest {
  if (intake.kind === "upload") return { ...given, body: messagesOf(given.body, intake, host) };
  const { limits, hold, keep } = host;
  const bytesMax = intake.kind === "call" ? limits.requestBytesMax : intake.bytesMax;
  const declared = Number(given.header.get("content-length") ?? 0);
  const body = declared > bytesMax + ENVELOPE_HEAD_BYTES ? refusing(bytesMax) : paced(given.body, wholeWithin(limits));
  const form = bodyForm(given.header.get("content-type") ?? undefined);
  if (intake.kind === "message" || form === undefined) return { ...given, body: whole(body, bytesMax, hold) };
  const header = new Headers(given.header);
  header.delete("content-length"); // it tells of the message that the library does not see
  const captured = captureMessage(body, form, { requestBytesMax: bytesMax, hold }, (bytes) => keep({ format: form.format, bytes }));
  return { ...given, header, body: captured };
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
