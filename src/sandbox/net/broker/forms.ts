/**
 * Lists the forms in which a text stands in a message. Pure.
 *
 * These are the text as it is, escaped for URLs and JSON, in base64 and in hexadecimal.
 */

/** Forms shorter than this are met by chance. */
const FORM_BYTES_MIN = 8;
/** Bytes that three positions of base64 share with their neighbours. */
const GROUP = 3;

/** The forms of `text` that are looked for, each once, the longest first. */
export function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const encoded = [0, 1, 2].flatMap((shift) => {
    const form = alignedBase64(bytes, shift);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const hex = bytes.toString("hex");
  const json = JSON.stringify(text).slice(1, -1);
  const more = [
    encodeURIComponent(text),
    escaped(text),
    json,
    json.replaceAll("/", "\\/"),
    ...encoded,
    hex,
    hex.toUpperCase(),
  ];
  const forms = new Set([text, ...more.filter((form) => form.length >= FORM_BYTES_MIN)]);
  return [...forms].filter((form) => form !== "").sort((left, right) => right.length - left.length);
}

/** `encodeURIComponent` leaves some characters that others escape. */
function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** What of `bytes` in base64 does not depend on what stands before and after it, after `shift` other bytes. */
function alignedBase64(bytes: Buffer, shift: number): string {
  const skipped = shift === 0 ? 0 : GROUP - shift;
  const whole = Math.floor((bytes.length - skipped) / GROUP) * GROUP;
  return whole <= 0 ? "" : bytes.subarray(skipped, skipped + whole).toString("base64");
}
