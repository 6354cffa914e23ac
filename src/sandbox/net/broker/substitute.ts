/**
 * Puts secrets into the head of a request, in place of their placeholders. Pure.
 *
 * INVARIANTS: a placeholder anywhere but where its binding has it refuses the request, and so does one that stands
 * there twice. What takes its place can end neither the header nor the parameter that it stands in.
 */
import {
  type BrokeredSecret,
  type SecretBinding,
  type SecretPlace,
  secretReference,
} from "../../../model/place/secrets.ts";

/** The head of a request to one server. */
export interface SecretRequest {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Path and query, from `/` on. */
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
}

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
export function substituted(request: SecretRequest, secrets: readonly BrokeredSecret[]): Substituted {
  let { path, headers } = request;
  const used: string[] = [];
  for (const secret of secrets) {
    const found = placesOf(secret, { ...request, path, headers });
    const bindings = bindingsOf(secret, request);
    const [place, second] = found;
    if (place !== undefined) {
      if (second !== undefined)
        return mismatch(secret, `it stands in the request twice; send it once, ${whereOf(secret.bindings)}`);
      if (!bindings.some((binding) => isSame(binding.place, place)))
        return mismatch(secret, `it is not for ${placeName(place)} here, but ${whereOf(secret.bindings)}`);
      if (secret.value === undefined) return unavailable(secret);
      if (place.kind !== "body") ({ path, headers } = put({ path, headers }, secret, place));
      used.push(secret.name);
    }
    for (const { place: to, added } of bindings) {
      if (added === undefined || to.kind !== "header" || hasHeader(headers, to.name)) continue;
      if (secret.value === undefined) return unavailable(secret);
      headers = [...headers, to.name, added.replace("{}", () => secret.value ?? "")];
      used.push(secret.name);
    }
  }
  return { kind: "request", path, headers, used: [...new Set(used)] };
}

/** The bindings of `secret` that allow a place in such a request. */
export function bindingsOf(
  { bindings }: Pick<BrokeredSecret, "bindings">,
  { host, port, method, path }: Pick<SecretRequest, "host" | "port" | "method" | "path">,
): readonly SecretBinding[] {
  return bindings.filter(
    (binding) =>
      binding.host === host &&
      binding.port === port &&
      (binding.methods === undefined || binding.methods.includes(method)) &&
      isBelow(path, binding.path),
  );
}

/** Whether the path, as servers read it, lies at or below `base`. */
function isBelow(path: string, base: string): boolean {
  if (base === "/") return true;
  const plain = path.split("?", 1)[0] ?? "";
  // what a server could take for another path is none that was bound
  if (/%2e|%2f|%5c|\\|;|\/\//i.test(plain) || plain.split("/").some((part) => part === "." || part === ".."))
    return false;
  const below = base.endsWith("/") ? base : `${base}/`;
  return plain === base || plain.startsWith(below);
}

/** A place as it is found, or a part of a request that is none. */
type FoundPlace = SecretPlace | { readonly kind: "elsewhere"; readonly what: string };

function isSame(bound: SecretPlace, found: FoundPlace): boolean {
  if (bound.kind !== found.kind) return false;
  if (bound.kind === "header" && found.kind === "header") return bound.name.toLowerCase() === found.name.toLowerCase();
  return !("name" in bound && "name" in found) || bound.name === found.name;
}

/** Where the placeholder of `secret`, or its name, stands in the head. */
function placesOf(secret: BrokeredSecret, { path, headers }: Pick<SecretRequest, "path" | "headers">): FoundPlace[] {
  const found: FoundPlace[] = [];
  const note = (text: string, place: FoundPlace) => {
    for (let left = countIn(text, secret); left > 0; left -= 1) found.push(place);
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
    note(
      value,
      NEVER_IN.has(name.toLowerCase()) ? { kind: "elsewhere", what: `\`${name}\`` } : { kind: "header", name },
    );
    const login = basicOf(name, value);
    if (login !== undefined) note(login, { kind: "basic" });
  }
  return found;
}

function put(
  { path, headers }: Pick<SecretRequest, "path" | "headers">,
  secret: BrokeredSecret,
  place: FoundPlace,
): { readonly path: string; readonly headers: readonly string[] } {
  const value = secret.value ?? "";
  switch (place.kind) {
    case "query": {
      const [plain = "", query = ""] = splitOnce(path, "?");
      const parameters = query.split("&").map((parameter) => {
        const [name = "", text = ""] = splitOnce(parameter, "=");
        if (countIn(decoded(text), secret) === 0) return parameter;
        return `${name}=${encodeURIComponent(replaced(decoded(text), secret, value))}`;
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
      return { path, headers: mapHeaders(headers, (_, text) => replaced(text, secret, value)) };
  }
}

function mapHeaders(headers: readonly string[], change: (name: string, value: string) => string): readonly string[] {
  return headers.map((text, at) => (at % 2 === 0 ? text : change(headers[at - 1] ?? "", text)));
}

/** How often the placeholder or the name stands in `text`. */
export function countIn(text: string, { name, placeholder }: Pick<BrokeredSecret, "name" | "placeholder">): number {
  return [placeholder, secretReference(name)].reduce((sum, form) => sum + text.split(form).length - 1, 0);
}

function replaced(text: string, { name, placeholder }: BrokeredSecret, value: string): string {
  return [placeholder, secretReference(name)].reduce((changed, form) => changed.split(form).join(value), text);
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

/** As a server decodes it; what is no proper escape stands as it is. */
export function decoded(text: string): string {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    // a part that cannot be decoded must not hide a placeholder in another part
    return spaced.replaceAll(/%[0-9a-f]{2}/gi, (hex) => String.fromCharCode(Number.parseInt(hex.slice(1), 16)));
  }
}

function splitOnce(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}

function placeName(place: FoundPlace): string {
  switch (place.kind) {
    case "header":
      return `the header \`${place.name}\``;
    case "query":
      return `the parameter \`${place.name}\``;
    case "basic":
      return "the login";
    case "elsewhere":
      return place.what;
    default:
      return "the body";
  }
}

/** What a secret is for, as the agent is told of it. */
export function whereOf(bindings: readonly SecretBinding[]): string {
  return bindings
    .map(({ host, port, path, methods, place }) => {
      const how = methods === undefined ? "" : ` by ${methods.join(", ")}`;
      const base = path === "/" ? "" : ` at or below \`${path}\``;
      return `for ${place.kind === "aws" ? "signatures" : place.kind === "hmac" ? `the header \`${place.name}\`` : placeName(place)} of requests to \`${host}:${port}\`${base}${how}`;
    })
    .join(", or ");
}

function mismatch({ name }: BrokeredSecret, why: string): SecretProblem {
  return { kind: "mismatch", secret: name, message: `the secret \`${name}\` is bound: ${why}` };
}

function unavailable({ name }: BrokeredSecret): SecretProblem {
  return {
    kind: "unavailable",
    secret: name,
    message: `the secret \`${name}\` cannot be read now; ask the operator to run \`handrail secrets check\``,
  };
}
