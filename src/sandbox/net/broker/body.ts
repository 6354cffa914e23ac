/**
 * Puts secrets into the body of a request that is there as a whole. Pure.
 *
 * Decides on JSON and forms; in other bodies nothing is replaced. INVARIANT: a placeholder that is not the whole of the
 * text that its binding names refuses the request.
 */
import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import { type BrokeredSecret, type SecretBinding, secretReference } from "../../../model/place/secrets.ts";
import { countIn, decoded, type SecretProblem, whereOf } from "./substitute.ts";

/** A secret, and its bindings that allow a place in the request. */
export interface BoundSecret {
  readonly secret: BrokeredSecret;
  readonly bindings: readonly SecretBinding[];
}

/** The body with what its placeholders stand for, or why it is not sent. */
export function substitutedBody(
  body: Buffer,
  contentType: string,
  secrets: readonly BoundSecret[],
): { readonly kind: "body"; readonly body: Buffer; readonly used: readonly string[] } | SecretProblem {
  let text = body.toString("latin1");
  const used: string[] = [];
  for (const { secret, bindings } of secrets) {
    const count = countIn(text, secret) || countIn(decoded(text), secret);
    if (count === 0) continue;
    const names = bindings.flatMap(({ place }) => (place.kind === "body" ? [place.name] : []));
    const form = formOf(contentType);
    const holds = names.some((name) => form !== undefined && isValueOf(text, { form, name, secret }));
    if (count > 1 || !holds)
      return {
        kind: "mismatch",
        secret: secret.name,
        message: `the secret \`${secret.name}\` is bound: it is not for this place of the body, but ${whereOf(secret.bindings)}`,
      };
    if (secret.value === undefined)
      return { kind: "unavailable", secret: secret.name, message: `the secret \`${secret.name}\` cannot be read now` };
    text = put(text, secret, form === "form" ? encodeURIComponent(secret.value) : inJson(secret.value));
    used.push(secret.name);
  }
  return { kind: "body", body: used.length === 0 ? body : Buffer.from(text, "latin1"), used };
}

type BodyForm = "json" | "form";

function formOf(contentType: string): BodyForm | undefined {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/x-www-form-urlencoded") return "form";
  return /^application\/(?:[\w.+-]+\+)?json$/.test(type) ? "json" : undefined;
}

/** Whether the placeholder is the whole of the value that `name` names. */
function isValueOf(
  text: string,
  { form, name, secret }: { readonly form: BodyForm; readonly name: string; readonly secret: BrokeredSecret },
): boolean {
  const meant = [secret.placeholder, secretReference(secret.name)];
  if (form === "form")
    return text.split("&").some((part) => {
      const at = part.indexOf("=");
      return decoded(part.slice(0, at)) === name && meant.includes(decoded(part.slice(at + 1)));
    });
  const parsed = parseJson(Buffer.from(text, "latin1").toString());
  let value: JsonValue | undefined = parsed.ok ? parsed.value : undefined;
  for (const member of name.split(".")) value = isJsonObject(value) ? value[member] : undefined;
  return typeof value === "string" && meant.includes(value);
}

function put(text: string, { name, placeholder }: BrokeredSecret, value: string): string {
  const reference = secretReference(name);
  return [placeholder, encodeURIComponent(placeholder), reference, encodeURIComponent(reference)].reduce(
    (changed, form) => changed.split(form).join(value),
    text,
  );
}

/** As it stands within a text of JSON; one character for each byte. */
function inJson(value: string): string {
  return Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1");
}
