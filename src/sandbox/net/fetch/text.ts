/**
 * Reads the body of an answer as text, by the encoding that its bytes, its header or its page names.
 *
 * A byte order mark goes before the header, and the header before what a page says of itself (WHATWG Encoding, HTML
 * §13.2.3).
 */
import sniff from "html-encoding-sniffer";

/** Types whose bodies are text beside those that begin with `text/`. */
const TEXT =
  /^(?:application\/(?:json|xml|javascript|ecmascript|x-javascript|graphql|x-ndjson|ndjson|jsonl|yaml|x-yaml|toml|sql|x-sh|x-www-form-urlencoded|rtf|[\w.+-]+\+(?:json|xml|yaml))|image\/svg\+xml|message\/.*|multipart\/.*)$/;

/** Bytes of the longest byte order mark. */
const MARK_BYTES = 3;

/** The type and encoding that a header names. */
export interface ContentType {
  /** In lower case, without parameters. */
  readonly type: string;
  readonly charset?: string;
}

/** Reads a `Content-Type`; the first, where a server sends several. */
export function contentTypeOf(header: string | readonly string[] | undefined): ContentType {
  const [text = ""] = typeof header === "string" || header === undefined ? [header] : header;
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim());
  const charset = parameters.map((one) => /^charset\s*=\s*"?([\w:.-]{1,40})"?$/i.exec(one)?.[1]).find(Boolean);
  return { type: type.toLowerCase(), ...(charset !== undefined && { charset }) };
}

/** Whether a body of that type is a page. */
export function isPage(type: string): boolean {
  return type === "text/html" || type === "application/xhtml+xml";
}

/** `bytes` as text with the encoding it was read by; nothing where it is none. */
export function textOfBody(
  bytes: Buffer,
  { type, charset }: ContentType,
): { readonly text: string; readonly charset: string } | undefined {
  const isText = type.startsWith("text/") || TEXT.test(type);
  if (!isText && (charset === undefined || type === "") && !looksLikeText(bytes)) return undefined;
  // what is no page names its encoding by a mark at its beginning at most
  const encoding = isPage(type)
    ? sniff(bytes, { ...(charset !== undefined && { transportLayerEncodingLabel: charset }) })
    : sniff(bytes.subarray(0, MARK_BYTES), { transportLayerEncodingLabel: charset ?? "utf-8" });
  const isPlain = charset === undefined && !isPage(type);
  return decoded(bytes, encoding, isPlain) ?? (isText ? decoded(bytes, "windows-1252", false) : undefined);
}

function decoded(bytes: Buffer, encoding: string, isStrict: boolean) {
  try {
    const text = new TextDecoder(encoding, { fatal: isStrict }).decode(bytes);
    return { text, charset: encoding.toLowerCase() };
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined; // not of that encoding, or unknown
    throw error;
  }
}

/** Of a body whose type says nothing: UTF-8 without null bytes. */
function looksLikeText(bytes: Buffer): boolean {
  return !bytes.includes(0) && decoded(bytes, "utf-8", true) !== undefined;
}
