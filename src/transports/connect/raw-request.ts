/**
 * Takes the bytes of a `ToolRequest` off the wire before the RPC library decodes them.
 *
 * The library would merge two variants and drop what it does not know; only the kernel's own decoder may judge a request
 * (INV-0004). So the library is given an empty message in place of the real one, whose bytes go to the kernel as they
 * came. Memory grows with the bytes that arrived, never with a length that was declared.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { utf8 } from "../../base/bytes.ts";

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
  /** Accounts for bytes that are held now; whether they may be. */
  readonly hold: (changeBytes: number) => boolean;
}

/** The form of a body of this content type, or `undefined` if it is none of the three protocols'. */
export function bodyForm(contentType: string | undefined): BodyForm | undefined {
  const match = /^application\/(connect\+|grpc-web\+|grpc\+)?(proto|json)(?:;.*)?$|^application\/(grpc|grpc-web)(?:;.*)?$/i.exec(
    contentType ?? "",
  );
  if (!match) return undefined;
  const format = match[2]?.toLowerCase() === "json" ? "json" : "proto";
  return { framing: match[1] !== undefined || match[3] !== undefined ? "enveloped" : "whole", format };
}

/**
 * Reads the one message of `body` into `keep`, and yields what the library is to see instead.
 * @throws ConnectError for a message that is too large, cut off, compressed or not alone
 */
export async function* captureMessage(
  body: AsyncIterable<Uint8Array>,
  form: BodyForm,
  host: CaptureHost,
  keep: (message: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const collected = await collect(body, form, host);
  const message = form.framing === "whole" ? collected : unwrap(collected);
  keep(message);
  const substitute = form.format === "json" ? EMPTY_JSON : new Uint8Array();
  yield form.framing === "whole" ? substitute : wrap(substitute);
}

async function collect(body: AsyncIterable<Uint8Array>, form: BodyForm, host: CaptureHost): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const bytesMax = host.requestBytesMax + (form.framing === "enveloped" ? ENVELOPE_HEAD_BYTES : 0);
  let size = 0;
  for await (const piece of body) {
    size += piece.byteLength;
    if (!host.hold(piece.byteLength)) {
      throw new ConnectError("too many large requests are in flight; try again later", Code.ResourceExhausted);
    }
    if (size > bytesMax) throw tooLarge(host.requestBytesMax);
    pieces.push(piece);
    if (form.framing === "enveloped" && pieces.length === 1) checkHead(piece, host.requestBytesMax);
  }
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
}

/** Refuses at once what the head of an envelope already gives away. */
function checkHead(bytes: Uint8Array, requestBytesMax: number): void {
  if (bytes.byteLength < ENVELOPE_HEAD_BYTES) return;
  checkFlags(bytes[0] ?? 0);
  if (lengthOf(bytes) > requestBytesMax) throw tooLarge(requestBytesMax);
}

function unwrap(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === 0) throw new ConnectError("the body holds no message; send exactly one", Code.InvalidArgument);
  const declared = bytes.byteLength < ENVELOPE_HEAD_BYTES ? Number.POSITIVE_INFINITY : lengthOf(bytes);
  const arrived = bytes.byteLength - ENVELOPE_HEAD_BYTES;
  if (arrived < declared) throw new ConnectError("the body ends inside a message", Code.InvalidArgument);
  checkFlags(bytes[0] ?? 0);
  if (arrived > declared) throw new ConnectError("the body holds more than one message; send exactly one", Code.InvalidArgument);
  return bytes.subarray(ENVELOPE_HEAD_BYTES);
}

function checkFlags(flags: number): void {
  if (flags === 0) return;
  if (flags === COMPRESSED) throw new ConnectError("compressed messages are not taken; send them as they are", Code.Unimplemented);
  throw new ConnectError(`there is no envelope flag ${flags}`, Code.InvalidArgument);
}

function lengthOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
}

function wrap(message: Uint8Array): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE_HEAD_BYTES + message.byteLength);
  new DataView(envelope.buffer).setUint32(1, message.byteLength);
  envelope.set(message, ENVELOPE_HEAD_BYTES);
  return envelope;
}

/** The error for a request over the limit. */
export function tooLarge(bytesMax: number): ConnectError {
  return new ConnectError(`the request has more than ${bytesMax} bytes; send less`, Code.ResourceExhausted);
}
