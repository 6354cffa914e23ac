/**
 * Converts the arguments of a call to plain JSON for evidence and for people.
 *
 * Bytes stand as the text that they are, because redaction finds secrets in text, and nothing in its base64 form.
 *
 * INVARIANT: whatever comes back still goes through redaction as facts do, and holds no definite secret that an
 * encoding hides from it.
 */
import { textOf } from "../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Redactor } from "../../redact/redact.ts";
import { CallRedaction } from "./redaction.ts";

/** Characters of the shortest base64 text that can hide a secret which redaction knows by its form. */
const ENCODED_CHARACTERS_MIN = 20;
/** Base64 and its URL form, in lines or not; the alphabet alone says so of many words, which then hold no secret. */
const ENCODED = /^[\w+/\s-]+(?:={1,2}\s*)?$/;
/** Stands for text that is a definite secret once it is decoded. */
const ENCODED_MARKER = "[REDACTED:base64]";

/**
 * Arguments as plain JSON, at any depth. @param bytesToo how bytes that are no text stand; in base64, without their
 * secrets, when absent
 */
export function recordedArguments(
  redaction: CallRedaction,
  args: Readonly<Record<string, unknown>>,
  bytesToo: (bytes: Uint8Array) => JsonValue = (bytes) => ({ bytes: base64Of(redaction.bytesForRecord(bytes)) }),
): JsonObject {
  const plain = (value: unknown): JsonValue => {
    if (typeof value === "string") return hidesSecret(redaction, value) ? ENCODED_MARKER : value;
    if (value instanceof Uint8Array) return textOf(value) ?? bytesToo(value);
    if (Array.isArray(value)) return value.some(needsLook) ? value.map(plain) : value;
    return typeof value === "object" && value !== null ? members(value as JsonObject) : (value as JsonValue);
  };
  const members = (object: Readonly<Record<string, unknown>>): JsonObject =>
    Object.values(object).some(needsLook)
      ? Object.fromEntries(Object.entries(object).map(([name, value]) => [name, plain(value)] as const))
      : (object as JsonObject);
  return members(args);
}

/** Most values are short texts and numbers, and stay the very same objects. */
function needsLook(value: unknown): boolean {
  return typeof value === "string"
    ? value.length >= ENCODED_CHARACTERS_MIN
    : typeof value === "object" && value !== null;
}

function hidesSecret(redaction: CallRedaction, text: string): boolean {
  return text.length >= ENCODED_CHARACTERS_MIN && ENCODED.test(text) && redaction.isSecret(Buffer.from(text, "base64"));
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** An object that came from outside of any call, without its secrets, hidden as those of arguments are. */
export function hiddenIn(redactor: Redactor, object: JsonObject): JsonObject {
  const redaction = new CallRedaction(redactor).knowing(object);
  return redaction.facts(recordedArguments(redaction, object));
}
