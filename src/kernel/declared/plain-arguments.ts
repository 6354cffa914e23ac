/** The arguments of a call in the one form of which digests, patterns and records speak. */
import { canonicalJson, type JsonObject, type JsonValue } from "../../base/json.ts";

/** Arguments as JSON, for digests alone: byte contents stand as base64 text, in which no redaction finds a secret. */
export function plainArguments(args: Readonly<Record<string, unknown>>): JsonObject {
  if (!holdsBytes(args)) return args as JsonObject;
  const plain: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(args)) {
    plain[name] = value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : (value as JsonValue);
  }
  return plain;
}

function holdsBytes(args: Readonly<Record<string, unknown>>): boolean {
  for (const name of Object.keys(args)) {
    if (args[name] instanceof Uint8Array) return true;
  }
  return false;
}

/** Characters of a text that is remembered while its call lasts: a longer one would take its memory twice. */
const REMEMBERED_CHARACTERS_MAX = 64 * 1024;

const remembered = new WeakMap<object, string>();

/** The canonical text of `args`, for digests; a call needs it for its record, and for its key. */
export function canonicalArguments(args: Readonly<Record<string, unknown>>): string {
  const known = remembered.get(args);
  if (known !== undefined) return known;
  const text = canonicalJson(plainArguments(args));
  if (text.length <= REMEMBERED_CHARACTERS_MAX) remembered.set(args, text);
  return text;
}

/**
 * Arguments as JSON whose byte contents stand as the text that they are, for what looks for words in them. Bytes that
 * are no UTF-8 become the replacement character: no pattern means them, and what stands around them is still seen.
 */
export function readableArguments(args: Readonly<Record<string, unknown>>): JsonObject {
  const readable: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(args)) {
    const isBytes = value instanceof Uint8Array;
    readable[name] = isBytes
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8")
      : (value as JsonValue);
  }
  return readable;
}
