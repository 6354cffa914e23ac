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
