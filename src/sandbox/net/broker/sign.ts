/**
 * Signs requests anew, whose signature a program made with a placeholder. Pure, but for the time of day that AWS wants.
 *
 * INVARIANT: the key stays here; what leaves is a signature for this very request.
 */
import { createHmac } from "node:crypto";
import aws4 from "aws4";
import type { SecretPlace } from "../../../model/reach/secrets.ts";
import type { SecretRequest } from "./bindings.ts";

/** A request that is ready but for its signature. */
export interface UnsignedRequest extends Pick<SecretRequest, "method" | "host" | "path" | "headers"> {
  /** The `Host` header. */
  readonly authority: string;
  /** Absent where a header says its hash. */
  readonly body?: Buffer;
}

const SCOPE = /^AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)\/\d{8}\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request\b/;
const HASH = "x-amz-content-sha256";
/** Each piece of such a body has a signature of its own. */
const SIGNED_PIECES = /^STREAMING-AWS4-/;

type AwsPlace = Extract<SecretPlace, { readonly kind: "aws" }>;
type HmacPlace = Extract<SecretPlace, { readonly kind: "hmac" }>;

/** What says that a request is signed for AWS with the key of `place`; `undefined` where it is not. */
export function awsScope(
  headers: readonly string[],
  { accessKeyId }: AwsPlace,
):
  | { readonly region: string; readonly service: string; readonly needsBody: boolean; readonly isInPieces: boolean }
  | undefined {
  const [, key, region, service] = SCOPE.exec(headerOf(headers, "authorization") ?? "") ?? [];
  if (key !== accessKeyId || region === undefined || service === undefined) return undefined;
  const hash = headerOf(headers, HASH);
  return { region, service, needsBody: hash === undefined, isInPieces: SIGNED_PIECES.test(hash ?? "") };
}

/** The headers with a signature by `key`, of now; nothing where the address cannot be read. */
export function signedForAws(request: UnsignedRequest, place: AwsPlace, key: string): readonly string[] | undefined {
  const scope = awsScope(request.headers, place);
  if (scope === undefined) return request.headers;
  const { method, authority, path, headers, body } = request;
  const named: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) named[(headers[at] ?? "").toLowerCase()] = headers[at + 1] ?? "";
  // a signature of another time would be as good as the key for that time
  const { authorization: old = "", host: _host, "x-amz-date": _date, date: _other, ...kept } = named;
  const names = /SignedHeaders=([^,\s]+)/.exec(old)?.[1]?.split(";") ?? [];
  // the same ones that the program has signed
  const extraHeadersToIgnore = Object.fromEntries(
    Object.keys(kept).flatMap((name) => (names.includes(name) ? [] : [[name, true]])),
  );
  const { region, service } = scope;
  const signing = {
    ...{ method, host: authority, path, region, service, extraHeadersToIgnore },
    headers: { ...kept, Host: authority },
    ...(body && { body }),
  };
  let signed: ReturnType<typeof aws4.sign>;
  try {
    signed = aws4.sign(signing, { accessKeyId: place.accessKeyId, secretAccessKey: key });
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
  return Object.entries(signed.headers ?? {}).flatMap(([name, value]) =>
    value === undefined || name.toLowerCase() === "host" ? [] : [name, String(value)],
  );
}

/** The headers with a HMAC of the body by `key`. */
export function signedByHmac(
  { headers, body }: { readonly headers: readonly string[]; readonly body: Buffer },
  { name, hash, prefix }: HmacPlace,
  key: string,
): readonly string[] {
  const others = headers.filter((_, at) => (headers[at - (at % 2)] ?? "").toLowerCase() !== name.toLowerCase());
  return [...others, name, `${prefix}${createHmac(hash, key).update(body).digest("hex")}`];
}

/** The values of all headers of that name. */
export function headersOf(headers: readonly string[], name: string): readonly string[] {
  return headers.flatMap((text, at) => (at % 2 === 0 && text.toLowerCase() === name ? [headers[at + 1] ?? ""] : []));
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  return headersOf(headers, name)[0];
}
