/**
 * The broker of secrets: makes requests with them that programs wrote with placeholders, and takes them out of answers.
 *
 * It works on one reading of the values, which the caller's redactor hides as well. INVARIANTS: nothing is replaced
 * in a request that its binding does not allow; what a bound server answers passes here before anybody inside reads
 * it.
 */
import type { BrokeredSecret, SecretBinding } from "../../../model/reach/secrets.ts";
import { bindingsOf, type SecretRequest } from "./bindings.ts";
import { type BoundSecret, substitutedBody } from "./body.ts";
import { formsOf } from "./forms.ts";
import { Placeholders } from "./placeholders.ts";
import { Replacements } from "./scrub.ts";
import { awsScope, headersOf, signedByHmac, signedForAws } from "./sign.ts";
import { mismatch, type SecretProblem, substituted, unavailable, whereOf } from "./substitute.ts";

/** A request whose head is ready, and what is left to do once its body is there. */
export interface PlannedRequest {
  readonly kind: "request";
  readonly path: string;
  readonly headers: readonly string[];
  /** Names of the secrets in the head. */
  readonly used: readonly string[];
  /** Makes the request ready; absent where the body may pass as it comes. */
  readonly finish?: (body: Buffer) => FinishedRequest | SecretProblem;
}

/** A request that is ready to be sent. */
export interface FinishedRequest {
  readonly kind: "finished";
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly used: readonly string[];
}

/** The secrets of one reading. */
export class SecretBroker {
  readonly secrets: readonly BrokeredSecret[];
  /** Finds their placeholders and names. */
  readonly placeholders: Placeholders;
  readonly #replacements = new Map<string, Replacements | undefined>();

  constructor(secrets: readonly BrokeredSecret[]) {
    this.secrets = secrets;
    this.placeholders = new Placeholders(secrets);
  }

  /** The secrets for requests to that server. */
  boundTo(host: string, port: number): readonly BrokeredSecret[] {
    return this.secrets.filter(({ bindings }) => bindings.some((one) => one.host === host && one.port === port));
  }

  /** Whether any secret is for requests to that server. */
  isBoundTo(host: string, port: number): boolean {
    return this.boundTo(host, port).length > 0;
  }

  /** What commands see in their environment. */
  variables(): Readonly<Record<string, string>> {
    const ids = this.secrets.flatMap(({ bindings }) =>
      bindings.flatMap(({ place }) =>
        place.kind === "aws" ? [["AWS_ACCESS_KEY_ID", place.accessKeyId] as const] : [],
      ),
    );
    return Object.fromEntries([...ids, ...this.secrets.map(({ name, placeholder }) => [name, placeholder] as const)]);
  }

  /** The request as it leaves, or why it does not. @param authority the `Host` header that it leaves with */
  plan(request: SecretRequest, authority: string): PlannedRequest | SecretProblem {
    const head = substituted(request, this.secrets, this.placeholders);
    if (head.kind !== "request") return head;
    const bound = this.secrets.map((secret): BoundSecret => ({ secret, bindings: bindingsOf(secret, request) }));
    const places = bound.flatMap(({ secret, bindings }) => bindings.map(({ place }) => ({ secret, place })));
    const inPieces = places.find(({ place }) => place.kind === "aws" && awsScope(head.headers, place)?.isInPieces);
    if (inPieces !== undefined)
      return mismatch(
        inPieces.secret,
        "pieces of a body cannot be signed anew; send it unsigned (`UNSIGNED-PAYLOAD`) or whole",
      );
    if (!places.some(({ place }) => touchesBody(place, head.headers))) return head;
    const { placeholders } = this;
    const parts = { request, head, bound, authority, placeholders };
    if (places.some(({ place }) => needsBody(place, head.headers)))
      return { ...head, finish: (body) => finished({ ...parts, body }) };
    // a signature that does not depend on the body
    const ready = finished(parts);
    return ready.kind === "finished" ? { ...head, headers: ready.headers, used: ready.used } : ready;
  }

  /** Why a body is not sent that no secret has a place in, where one stands in it. */
  seenIn(body: string): SecretProblem | undefined {
    const [seen] = this.placeholders.in(body);
    if (seen === undefined) return undefined;
    return mismatch(seen, `it is not for the body of this request, but ${whereOf(seen.bindings)}`);
  }

  /** What takes the place of values in what that server answers; `undefined` where nothing can stand there. */
  replacementsFor(host: string, port: number): Replacements | undefined {
    const key = `${host}:${port}`;
    if (!this.#replacements.has(key)) this.#replacements.set(key, this.#replacementsOf(host, port));
    return this.#replacements.get(key);
  }

  #replacementsOf(host: string, port: number): Replacements | undefined {
    const isBound = ({ bindings }: BrokeredSecret) => bindings.some((one) => one.host === host && one.port === port);
    return placeholdersFor(this.secrets.filter(isBound));
  }
}

/** What takes the place of the values of `secrets`, in all their forms; `undefined` where none can be read. */
export function placeholdersFor(secrets: readonly BrokeredSecret[]): Replacements | undefined {
  const found = new Map<string, string>();
  for (const { value, placeholder } of secrets) {
    if (value === undefined) continue;
    for (const form of formsOf(value)) {
      const bytes = Buffer.from(form).toString("latin1");
      if (!found.has(bytes)) found.set(bytes, shownFor(form, value, placeholder));
    }
  }
  return found.size === 0 ? undefined : new Replacements(found);
}

/** What takes the place of a form: the placeholder, or as much of it as the form has of the value. */
function shownFor(form: string, value: string, placeholder: string): string {
  if (form === value) return placeholder;
  const at = value.indexOf(form);
  return at === -1 ? placeholder.slice(0, form.length) : placeholder.slice(at, at + form.length);
}

function touchesBody(place: SecretBinding["place"], headers: readonly string[]): boolean {
  return needsBody(place, headers) || (place.kind === "aws" && awsScope(headers, place) !== undefined);
}

function needsBody(place: SecretBinding["place"], headers: readonly string[]): boolean {
  if (place.kind === "body" || place.kind === "hmac") return true;
  return place.kind === "aws" && awsScope(headers, place)?.needsBody === true;
}

/** A request, and what its end is made of; without a body, where no secret has a place in it. */
interface Finishing {
  readonly request: SecretRequest;
  readonly head: Pick<PlannedRequest, "path" | "headers" | "used">;
  readonly bound: readonly BoundSecret[];
  readonly authority: string;
  readonly placeholders: Placeholders;
  readonly body?: Buffer;
}

function finished({ request, head, bound, authority, placeholders, body }: Finishing): FinishedRequest | SecretProblem {
  let { headers } = head;
  const used = [...head.used];
  let sent = body ?? Buffer.alloc(0);
  if (body !== undefined) {
    const put = substitutedBody({ body, contentTypes: headersOf(headers, "content-type") }, bound, placeholders);
    if (put.kind !== "body") return put;
    sent = put.body;
    used.push(...put.used);
  }
  for (const { secret, bindings } of bound)
    for (const { place } of bindings) {
      if (place.kind !== "hmac" && (place.kind !== "aws" || awsScope(headers, place) === undefined)) continue;
      if (secret.value === undefined) return unavailable(secret);
      const { method, host } = request;
      const unsigned = { method, host, path: head.path, headers, authority, ...(body !== undefined && { body: sent }) };
      const signed =
        place.kind === "hmac"
          ? signedByHmac({ headers, body: sent }, place, secret.value)
          : signedForAws(unsigned, place, secret.value);
      if (signed === undefined) return mismatch(secret, "an address that cannot be read cannot be signed");
      headers = signed;
      used.push(secret.name);
    }
  return { kind: "finished", headers, body: sent, used: [...new Set(used)] };
}
