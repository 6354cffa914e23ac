/**
 * Lists the forms in which a text stands in a message. Pure.
 *
 * These are the text as it is, escaped for URLs and JSON, in base64 and in hexadecimal.
 */

/** Forms shorter than this are met by chance. */
const FORM_BYTES_MIN = 8;
/** Letters and digits in a row that no escape changes and that are met by no chance. */
const CORE = /[A-Za-z0-9]{12,}/g;
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
  const percent = encodeURIComponent(text);
  const more = [
    ...[percent, escaped(text), percent.replaceAll(/%../g, (one) => one.toLowerCase())],
    ...[encodeURIComponent(percent), json, json.replaceAll("/", "\\/")],
    // serialisers of JSON and HTML write what is no letter by its number
    ...[numbered(text, (code) => `\\u${code.toString(16).padStart(4, "0")}`)],
    ...[numbered(text, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`)],
    ...[
      numbered(text, (code) => `&#x${code.toString(16).toUpperCase()};`),
      numbered(text, (code) => `&#x${code.toString(16)};`),
    ],
    ...[numbered(text, (code) => `&#${code};`), text.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? one)],
    ...[
      ...encoded,
      hex,
      hex.toUpperCase(),
      bytes.toString("base64"),
      Buffer.from(bytes.toString("base64")).toString("base64"),
    ],
    // whatever is escaped between them; some programs change the case
    ...[text, ...(text.match(CORE) ?? [])].flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()]),
    ...[Buffer.from(text, "utf16le").toString("latin1"), Buffer.from(text, "utf16le").swap16().toString("latin1")],
  ];
  const forms = new Set([text, ...more.filter((form) => form.length >= FORM_BYTES_MIN)]);
  return [...forms].filter((form) => form !== "").sort((left, right) => right.length - left.length);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Everything but letters and digits by its number. */
function numbered(text: string, write: (code: number) => string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, (one) => write(one.charCodeAt(0)));
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
