/**
 * The name of the server in the first message of a TLS client, which stands there in the clear. Pure.
 *
 * Decides only what is said there; a client that encrypts the name for the server (ECH) names the front there, and that
 * is what is found. It trusts nothing. INVARIANT: what begins like TLS and cannot be read to the end is `broken`, never
 * taken for something else.
 */
import { KIB } from "../../../base/bytes.ts";

/**
 * Bytes of the first message of TLS, in which the client names the server: the largest that are seen carry a few keys.
 */
const EGRESS_HELLO_BYTES_MAX = 64 * KIB;

/** What the first bytes of a client are. `more`: too few to say. */
export type FirstBytes =
  | { readonly kind: "more" }
  | { readonly kind: "other" }
  | { readonly kind: "broken" }
  | { readonly kind: "hello"; readonly serverName: string | undefined };

// RFC 8446 and RFC 6066
const HANDSHAKE_RECORD = 22;
const RECORD_HEAD_BYTES = 5;
const RECORD_BYTES_MAX = 16_384;
const CLIENT_HELLO = 1;
const MESSAGE_HEAD_BYTES = 4;
const VERSION_AND_RANDOM_BYTES = 34;
const SERVER_NAME = 0;
const HOST_NAME = 0;

const MORE: FirstBytes = { kind: "more" };
const BROKEN: FirstBytes = { kind: "broken" };

/** Looks at all bytes that came so far. */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return MORE;
  if (bytes[0] !== HANDSHAKE_RECORD) return { kind: "other" };
  const message = handshakeMessage(bytes);
  if (message === undefined) return BROKEN;
  if (message === "more") return bytes.length >= EGRESS_HELLO_BYTES_MAX ? BROKEN : MORE;
  return hello(message);
}

/** The body of the first message, put together from records. */
function handshakeMessage(bytes: Buffer): Buffer | "more" | undefined {
  const parts: Buffer[] = [];
  const head: number[] = [];
  let held = 0;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD || (bytes[at + 1] ?? 3) !== 3) return undefined;
    if (bytes.length < at + RECORD_HEAD_BYTES) return "more";
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > RECORD_BYTES_MAX) return undefined;
    const part = bytes.subarray(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + length);
    parts.push(part);
    held += part.length;
    at += RECORD_HEAD_BYTES + length;
    if (head.length < MESSAGE_HEAD_BYTES) head.push(...part.subarray(0, MESSAGE_HEAD_BYTES - head.length));
    const [type, high, middle, low] = head;
    if (type !== undefined && type !== CLIENT_HELLO) return undefined;
    if (high === undefined || middle === undefined || low === undefined) continue;
    const end = MESSAGE_HEAD_BYTES + ((high << 16) | (middle << 8) | low);
    if (end > EGRESS_HELLO_BYTES_MAX) return undefined;
    if (held >= end) return Buffer.concat(parts).subarray(MESSAGE_HEAD_BYTES, end);
  }
  return "more";
}

function hello(body: Buffer): FirstBytes {
  const reader = new Reader(body);
  reader.take(VERSION_AND_RANDOM_BYTES);
  reader.list(1); // session
  reader.list(2); // cipher suites
  reader.list(1); // compression
  if (reader.isBroken) return BROKEN;
  if (reader.isAtEnd) return { kind: "hello", serverName: undefined };
  const extensions = new Reader(reader.list(2));
  if (!reader.isAtEnd) return BROKEN;
  const names: (string | undefined)[] = [];
  while (!extensions.isAtEnd && !extensions.isBroken) {
    const type = extensions.number(2);
    const content = extensions.list(2);
    if (type === SERVER_NAME) names.push(nameOf(content));
  }
  if (reader.isBroken || extensions.isBroken || names.length > 1 || (names.length === 1 && names[0] === undefined))
    return BROKEN;
  return { kind: "hello", serverName: names[0] };
}

/** The one name of the list; `undefined` when there is not exactly one. */
function nameOf(content: Buffer): string | undefined {
  const outer = new Reader(content);
  const list = new Reader(outer.list(2));
  const type = list.number(1);
  const name = list.list(2);
  const isWhole = outer.isAtEnd && list.isAtEnd && !outer.isBroken && !list.isBroken;
  return isWhole && type === HOST_NAME && name.length > 0 ? name.toString("latin1") : undefined;
}

/** Reads numbers and lists with their length before them; what is missing reads as nothing and is remembered. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  isBroken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) {
      this.isBroken = true;
      this.#at = this.#bytes.length;
      return Buffer.alloc(0);
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(size: 1 | 2): number {
    const taken = this.take(size);
    return taken.length === 0 ? 0 : taken.readUIntBE(0, size);
  }

  list(sizeOfLength: 1 | 2): Buffer {
    return this.take(this.number(sizeOfLength));
  }
}
