/**
 * Takes the bytes of a `ToolRequest` off the wire before the RPC library decodes them.
 *
 * The library would merge two variants and drop what it does not know; only the kernel's own decoder may judge a
 * request (INV-0004). So the library is given an empty message in place of the real one, whose bytes go to the kernel
 * as they came. Memory grows with the bytes that arrived, never with a length that was declared.
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import { utf8 } from "../../../base/bytes.ts";
import { BodyBuffer, type Hold, tooLarge } from "./body-buffer.ts";
import { malformed } from "./refusal.ts";

/** Bytes of an envelope before its message: flags and length. */
export const ENVELOPE_HEAD_BYTES = 5;
const COMPRESSED = 1;
const EMPTY_JSON = utf8("{}");

/** How a message stands in the body: alone, or after an envelope's five bytes. */
export type Framing = "whole" | "enveloped";

/** How a body brings a message. */
export interface BodyForm {
  readonly framing: Framing;
  readonly format: "proto" | "json";
}

/** What capturing asks of its surroundings. */
export interface CaptureHost {
  readonly requestBytesMax: number;
  readonly hold: Hold;
}

/** The form of a body of this content type, or `undefined` if it is none of the three protocols'. */
export function bodyForm(contentType: string | undefined): BodyForm | undefined {
  const match =
    /^application\/(connect\+|grpc-web\+|grpc\+)?(proto|json)(?:;.*)?$|^application\/(grpc|grpc-web)(?:;.*)?$/i.exec(
      contentType ?? "",
    );
  if (!match) return undefined;
  const format = match[2]?.toLowerCase() === "json" ? "json" : "proto";
  return { framing: match[1] !== undefined || match[3] !== undefined ? "enveloped" : "whole", format };
}

/**
 * Reads the one message of `body` into `keep` of `host`, and yields what the library is to see instead.
 * @throws ConnectError for a message that is too large, cut off, compressed or not alone
 */
export async function* captureMessage(
  body: AsyncIterable<Uint8Array>,
  form: BodyForm,
  host: CaptureHost & { readonly keep: (message: Uint8Array) => void },
): AsyncGenerator<Uint8Array> {
  const collected = await collect(body, form, host);
  const message = form.framing === "whole" ? collected : unwrap(collected);
  host.keep(message);
  const substitute = form.format === "json" ? EMPTY_JSON : new Uint8Array();
  yield form.framing === "whole" ? substitute : wrap(substitute);
}

async function collect(body: AsyncIterable<Uint8Array>, form: BodyForm, host: CaptureHost): Promise<Uint8Array> {
  const enveloped = form.framing === "enveloped";
  const collected = new BodyBuffer(host.requestBytesMax + (enveloped ? ENVELOPE_HEAD_BYTES : 0), host.hold);
  let headSeen = false;
  for await (const piece of body) {
    collected.add(piece);
    if (!enveloped || headSeen || collected.size < ENVELOPE_HEAD_BYTES) continue;
    headSeen = true;
    checkHead(collected.bytes, host.requestBytesMax);
  }
  return collected.bytes;
}

/** Refuses at once what the head of an envelope already gives away. */
function checkHead(bytes: Uint8Array, requestBytesMax: number): void {
  checkFlags(bytes[0] ?? 0);
  if (lengthOf(bytes) > requestBytesMax) throw tooLarge(requestBytesMax);
}

function unwrap(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === 0) throw malformed("the body holds no message; send exactly one");
  const declared = bytes.byteLength < ENVELOPE_HEAD_BYTES ? Number.POSITIVE_INFINITY : lengthOf(bytes);
  const arrived = bytes.byteLength - ENVELOPE_HEAD_BYTES;
  if (arrived < declared) throw malformed("the body ends inside a message");
  checkFlags(bytes[0] ?? 0);
  if (arrived > declared) throw malformed("the body holds more than one message; send exactly one");
  return bytes.subarray(ENVELOPE_HEAD_BYTES);
}

/** Refuses the message of an envelope that says it is compressed. @throws ConnectError `unimplemented` */
export function checkCompression(envelope: Uint8Array): void {
  if (((envelope[0] ?? 0) & COMPRESSED) !== 0) throw compressed();
}

function compressed(): ConnectError {
  return malformed("compressed messages are not taken; send them as they are", Code.Unimplemented);
}

function checkFlags(flags: number): void {
  if (flags === 0) return;
  if (flags === COMPRESSED) throw compressed();
  throw malformed(`there is no envelope flag ${flags}`);
}

/** The length that the head of an envelope declares. */
export function lengthOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
}

function wrap(message: Uint8Array): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE_HEAD_BYTES + message.byteLength);
  new DataView(envelope.buffer).setUint32(1, message.byteLength);
  envelope.set(message, ENVELOPE_HEAD_BYTES);
  return envelope;
}
