/** The arguments of a call in the one form of which digests, patterns and records speak. */
import type { JsonObject, JsonValue } from "../base/json.ts";

/** Arguments as JSON, for their digest or, where the tool says so, for the record: byte contents stand as base64 text. */
export function plainArguments(args: Readonly<Record<string, unknown>>): JsonObject {
  const plain: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(args)) {
    plain[name] = value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : (value as JsonValue);
  }
  return plain;
}

/**
 * Arguments as JSON whose byte contents stand as the text that they are, for what looks for words in them. Bytes that are no
 * UTF-8 become the replacement character: no pattern means them, and what stands around them is still seen.
 */
export function readableArguments(args: Readonly<Record<string, unknown>>): JsonObject {
  const readable: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(args)) {
    const isBytes = value instanceof Uint8Array;
    readable[name] = isBytes ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8") : (value as JsonValue);
  }
  return readable;
}
