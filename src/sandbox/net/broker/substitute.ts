/**
 * Puts secrets into the head of a request, in place of their placeholders. Pure.
 *
 * INVARIANTS: a placeholder anywhere but where its binding has it refuses the request, and so does one that stands
 * there twice. What takes its place can end neither the header nor the parameter that it stands in.
 */
import type { BrokeredSecret, SecretBinding, SecretPlace } from "../../../model/reach/secrets.ts";
import { bindingsOf, type SecretRequest } from "./bindings.ts";
import { decoded, type Placeholders, replaced } from "./placeholders.ts";

/** What became of a request. */
export type Substituted =
  | {
      readonly kind: "request";
      readonly path: string;
      readonly headers: readonly string[];
      /** Names of the secrets that it carries. */
      readonly used: readonly string[];
    }
  | SecretProblem;

/** Why a request is not sent; `message` is safe for the agent. */
export interface SecretProblem {
  readonly kind: "mismatch" | "unavailable";
  readonly secret: string;
  readonly message: string;
}

/** Headers that reach more than the server, or that programs fill by themselves. */
const NEVER_IN: ReadonlySet<string> = new Set(["cookie", "referer", "user-agent"]);

/** `request` with what its placeholders stand for. */
export function substituted(
  request: SecretRequest,
  secrets: readonly BrokeredSecret[],
  placeholders: Placeholders,
): Substituted {
  let { path, headers } = request;
  const used = new Set<string>();
  const found = placesIn(request, placeholders);
  for (const [secret, [place, second]] of found) {
    if (place === undefined) continue;
    if (second !== undefined)
      return mismatch(secret, `it stands in the request twice; send it once, ${whereOf(secret.bindings)}`);
    if (!bindingsOf(secret, request).some((binding) => isSame(binding.place, place)))
      return mismatch(secret, `it is not for ${placeName(place)} here, but ${whereOf(secret.bindings)}`);
    if (secret.value === undefined) return unavailable(secret);
    ({ path, headers } = put({ path, headers }, { secret, place, value: secret.value }));
    used.add(secret.name);
  }
  for (const secret of secrets) {
    for (const { place: to, added } of bindingsOf(secret, request)) {
      if (added === undefined || to.kind !== "header" || hasHeader(headers, to.name)) continue;
      const { value } = secret;
      if (value === undefined) return unavailable(secret);
      headers = [...headers, to.name, added.replace("{}", () => onWire(value))];
      used.add(secret.name);
    }
  }
  return { kind: "request", path, headers, used: [...used] };
}

/** A place as it is found, or a part of a request that is none. */
type FoundPlace = SecretPlace | { readonly kind: "elsewhere"; readonly what: string };

function isSame(bound: SecretPlace, found: FoundPlace): boolean {
  if (bound.kind !== found.kind) return false;
  if (bound.kind === "header" && found.kind === "header") return bound.name.toLowerCase() === found.name.toLowerCase();
  return !("name" in bound && "name" in found) || bound.name === found.name;
}

/** Where placeholders and names stand in the head, by their secrets. */
function placesIn(
  { path, headers }: Pick<SecretRequest, "path" | "headers">,
  placeholders: Placeholders,
): ReadonlyMap<BrokeredSecret, readonly FoundPlace[]> {
  const found = new Map<BrokeredSecret, FoundPlace[]>();
  const note = (text: string, place: FoundPlace) => {
    for (const secret of placeholders.in(text)) {
      const places = found.get(secret);
      if (places === undefined) found.set(secret, [place]);
      else places.push(place);
    }
  };
  const [plain = "", query] = splitOnce(path, "?");
  note(decoded(plain), { kind: "elsewhere", what: "the path" });
  for (const parameter of query?.split("&") ?? []) {
    const [name = "", value = ""] = splitOnce(parameter, "=");
    note(decoded(name), { kind: "elsewhere", what: "the name of a parameter" });
    note(decoded(value), { kind: "query", name: decoded(name) });
  }
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]];
    note(name, { kind: "elsewhere", what: "the name of a header" });
    const never = NEVER_IN.has(name.toLowerCase());
    note(value, never ? { kind: "elsewhere", what: `\`${name}\`` } : { kind: "header", name });
    const login = basicOf(name, value);
    if (login !== undefined) note(login, { kind: "basic" });
  }
  return found;
}

/** A secret, where it goes, and what goes there. */
interface Putting {
  readonly secret: BrokeredSecret;
  readonly place: FoundPlace;
  readonly value: string;
}

function put(
  { path, headers }: Pick<SecretRequest, "path" | "headers">,
  { secret, place, value }: Putting,
): { readonly path: string; readonly headers: readonly string[] } {
  switch (place.kind) {
    case "query": {
      const [plain = "", query = ""] = splitOnce(path, "?");
      const parameters = query.split("&").map((parameter) => {
        const [name = "", text = ""] = splitOnce(parameter, "=");
        const read = decoded(text);
        const filled = replaced(read, secret, value);
        return filled === read ? parameter : `${name}=${encodeURIComponent(filled)}`;
      });
      return { path: `${plain}?${parameters.join("&")}`, headers };
    }
    case "basic":
      return {
        path,
        headers: mapHeaders(headers, (name, text) => {
          const login = basicOf(name, text);
          return login === undefined ? text : `Basic ${Buffer.from(replaced(login, secret, value)).toString("base64")}`;
        }),
      };
    default:
      return { path, headers: mapHeaders(headers, (_, text) => replaced(text, secret, onWire(value))) };
  }
}

/** A header's value as its bytes are written, one character each: as UTF-8, in which answers are looked through. */
function onWire(value: string): string {
  return Buffer.from(value).toString("latin1");
}

function mapHeaders(headers: readonly string[], change: (name: string, value: string) => string): readonly string[] {
  return headers.map((text, at) => (at % 2 === 0 ? text : change(headers[at - 1] ?? "", text)));
}

/** User and password of a header; nothing where it says none. */
function basicOf(name: string, value: string): string | undefined {
  if (!/^(?:proxy-)?authorization$/i.test(name)) return undefined;
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(value.trim())?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
}

function hasHeader(headers: readonly string[], name: string): boolean {
  return headers.some((text, at) => at % 2 === 0 && text.toLowerCase() === name.toLowerCase());
}

function splitOnce(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}

function placeName(place: FoundPlace): string {
  switch (place.kind) {
    case "header":
    case "hmac":
      return `the header \`${place.name}\``;
    case "query":
      return `the parameter \`${place.name}\``;
    case "basic":
      return "the login";
    case "elsewhere":
      return place.what;
    case "aws":
      return "signatures";
    case "body":
      return `\`${place.name}\` in the body`;
  }
}

/** What a secret is for, as the agent is told of it. */
export function whereOf(bindings: readonly SecretBinding[]): string {
  return bindings
    .map(({ host, port, path, methods, place }) => {
      const how = methods === undefined ? "" : ` by ${methods.join(", ")}`;
      const base = path === "/" ? "" : ` at or below \`${path}\``;
      return `for ${placeName(place)} of requests to \`${host}:${port}\`${base}${how}`;
    })
    .join(", or ");
}

/** The problem of a secret that stands where it is not for. */
export function mismatch({ name }: Pick<BrokeredSecret, "name">, why: string): SecretProblem {
  return { kind: "mismatch", secret: name, message: `the secret \`${name}\` is bound: ${why}` };
}

/** The problem of a secret whose value is not known. */
export function unavailable({ name }: Pick<BrokeredSecret, "name">): SecretProblem {
  return {
    kind: "unavailable",
    secret: name,
    message: `the secret \`${name}\` cannot be read now; ask the operator to run \`handrail secrets check\``,
  };
}
