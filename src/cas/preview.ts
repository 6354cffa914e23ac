/** Previews a text that is too long to show: its beginning, and where the whole is. Pure. */
import type { JsonObject } from "../base/json.ts";

/** JSON Schema (2020-12) of the data that stands for a result that is too large to be shown. */
export const CUT_RESULT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    content_hash: { type: "string", description: "BLAKE3-256 of the whole data as JSON text, which is stored." },
    size: { type: "integer", description: "Bytes of that text." },
    preview: { type: "string", description: "Its beginning." },
    rest: { type: "object", description: "The call that returns what follows." },
  },
  required: ["content_hash", "size", "preview", "rest"],
  additionalProperties: false,
};

/**
 * As much of the beginning of `text` as fits `bytesMax` bytes, also when it is printed as a JSON string; whole
 * characters only. What is cut is printed JSON, in which no byte takes more than two when it is printed again.
 */
export function preview(text: string, bytesMax: number): string {
  const whole = cut(text, bytesMax);
  return Buffer.byteLength(JSON.stringify(whole)) <= bytesMax ? whole : cut(text, Math.floor((bytesMax - 2) / 2));
}

function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.slice(0, bytesMax));
  if (bytes.byteLength <= bytesMax) return bytes.toString();
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
