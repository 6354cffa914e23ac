/**
 * Puts secrets into the body of a request that is there as a whole. Pure.
 *
 * Decides on JSON and forms; in other bodies nothing is replaced. INVARIANTS: a placeholder stands once in what a
 * server reads, however it is escaped, and is the whole of the text that its binding names; that text alone is
 * replaced. A body that servers could read in two ways has no place for a secret.
 */
import { textOf } from "../../../base/bytes.ts";
import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import { type BrokeredSecret, type SecretBinding, secretReference } from "../../../model/reach/secrets.ts";
import { decoded, type Placeholders, replaced } from "./placeholders.ts";
import { mismatch, type SecretProblem, unavailable, whereOf } from "./substitute.ts";

/** A secret, and its bindings that allow a place in the request. */
export interface BoundSecret {
  readonly secret: BrokeredSecret;
  readonly bindings: readonly SecretBinding[];
}

/** A body with its secrets. */
interface FilledBody {
  readonly kind: "body";
  readonly body: Buffer;
  readonly used: readonly string[];
}

/**
 * The body with what its placeholders stand for, or why it is not sent.
 * @param contentTypes all that the request says of its kind
 */
export function substitutedBody(
  { body, contentTypes }: { readonly body: Buffer; readonly contentTypes: readonly string[] },
  secrets: readonly BoundSecret[],
  placeholders: Placeholders,
): FilledBody | SecretProblem {
  const text = body.toString();
  const found = new Set([
    ...placeholders.in(text),
    ...placeholders.in(decoded(text)),
    ...placeholders.in(unescaped(text)),
  ]);
  const [secret, second] = found;
  if (secret === undefined) return { kind: "body", body, used: [] };
  const bindings = secrets.find((one) => one.secret === secret)?.bindings ?? [];
  const names = bindings.flatMap(({ place }) => (place.kind === "body" ? [place.name] : []));
  const form = contentTypes.length === 1 ? formOf(contentTypes[0] ?? "") : undefined;
  if (textOf(body) === undefined) return mismatch(secret, "it stands in a body that is no text in UTF-8");
  if (second !== undefined)
    return mismatch(second, "a body holds one secret; send the others in requests of their own");
  if (secret.value === undefined) return unavailable(secret);
  const { value } = secret;
  const read = form === "form" ? inForm(text, { names, secret, value, placeholders }) : undefined;
  const filled = form === "json" ? inJson(text, { names, secret, value, placeholders }) : read;
  if (filled === undefined)
    return mismatch(secret, `it is not for this place of the body, but ${whereOf(secret.bindings)}`);
  return { kind: "body", body: Buffer.from(filled), used: [secret.name] };
}

interface Filling {
  readonly names: readonly string[];
  readonly secret: BrokeredSecret;
  readonly value: string;
  readonly placeholders: Placeholders;
}

function formOf(contentType: string): "json" | "form" | undefined {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/x-www-form-urlencoded") return "form";
  return /^application\/(?:[\w.+-]+\+)?json$/.test(type) ? "json" : undefined;
}

function isMeant(text: unknown, { secret: { name, placeholder } }: Filling): boolean {
  return text === placeholder || text === secretReference(name);
}

/** The text with the one member filled, where the placeholder stands there, unescaped, and nowhere else. */
function inJson(text: string, filling: Filling): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !filling.names.some((name) => isMeant(memberOf(parsed.value, name), filling))) return undefined;
  // what stands plainly once in the text, and once in all that it says, stands in that member
  const says = textsOf(parsed.value).reduce((sum, one) => sum + filling.placeholders.in(one).length, 0);
  if (says !== 1 || filling.placeholders.in(text).length !== 1) return undefined;
  return replaced(text, filling.secret, JSON.stringify(filling.value).slice(1, -1));
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const member of name.split(".")) at = isJsonObject(at) ? at[member] : undefined;
  return at;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsOf(member)]);
}

/** What a form is written in, names of secrets aside. */
const FORM = /^[A-Za-z0-9._~!$'()*,:@/?%+&=-]*$/;

/** The form with the one field filled, where its name stands there once, and the placeholder nowhere else. */
function inForm(text: string, filling: Filling): string | undefined {
  const { names, secret, value, placeholders } = filling;
  if (!FORM.test(text.replaceAll(secretReference(secret.name), ""))) return undefined;
  const fields = text.split("&").map((part) => {
    const at = part.indexOf("=");
    const [name, read] = at === -1 ? [decoded(part), ""] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
    return { part, name, read, written: at === -1 ? part : part.slice(0, at) };
  });
  const meant = fields.filter(({ name }) => names.includes(name));
  const [field] = meant;
  if (field === undefined || meant.length > 1 || !isMeant(field.read, filling)) return undefined;
  const said = fields.reduce(
    (sum, { name, read }) => sum + placeholders.in(name).length + placeholders.in(read).length,
    0,
  );
  if (said !== 1) return undefined;
  return fields.map((one) => (one === field ? `${one.written}=${encodeURIComponent(value)}` : one.part)).join("&");
}

/** What JSON escapes, as far as it is escaped: enough to see that something is hidden there. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
