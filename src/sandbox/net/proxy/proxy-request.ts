/**
 * Parses strictly what a client asks of the proxy.
 *
 * It is pure. Node's parser has already refused lengths that contradict each other, folded headers, bare line feeds and
 * blanks in names. This module refuses what is left that two programs could read differently.
 *
 * INVARIANT: what is passed on names the host that was judged, and no other.
 */

import { canonicalHost } from "../../../names/host-name.ts";
import type { EgressRefusal, Target } from "../gate/admission.ts";

/** Headers of a request or an answer. */
const EGRESS_HEADERS_MAX = 128;

/** The parts of a request that say where it goes. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Names and values by turns, as they came. */
  readonly rawHeaders: readonly string[];
}

/** A request to be passed on. */
export interface ForwardTarget extends Target {
  readonly kind: "target";
  /** Path and query as they came, from `/` on. */
  readonly path: string;
  /** What the `Host` header says to the server. */
  readonly authority: string;
}

/** A tunnel to be opened. */
export interface TunnelTarget extends Target {
  readonly kind: "target";
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const ABSOLUTE = /^http:\/\/([^/?#]*)(\/[^#]*|\?[^#]*)?$/i;
const AUTHORITY = /^(\[[^\][]*\]|[^:@[\]]+)(?::([1-9]\d{0,4}))?$/;
const PORT_MAX = 65_535;

/** Where a tunnel goes. */
export function tunnelTarget(head: RequestHead): TunnelTarget | EgressRefusal {
  const target = parseAuthority(head.url, undefined);
  if (target === undefined) return malformed("a tunnel is opened with `CONNECT host:port`; write the host plainly");
  const problem = headProblem(head, target, target.port);
  if (problem !== undefined) return problem;
  if (valuesOf(head, "content-length").length + valuesOf(head, "transfer-encoding").length > 0) {
    return malformed("`CONNECT` has no body; leave out its length");
  }
  return { kind: "target", ...target };
}

/** Where a plain request goes. */
export function forwardTarget(head: RequestHead): ForwardTarget | EgressRefusal {
  const [, written, path = "/"] = ABSOLUTE.exec(head.url) ?? [];
  const target = written === undefined ? undefined : parseAuthority(written, HTTP_PORT);
  if (target === undefined) {
    return malformed(
      "this is a proxy: it takes `GET http://host/path` without a name or password, and `CONNECT host:port` for https",
    );
  }
  const problem = headProblem(head, target, HTTP_PORT);
  if (problem !== undefined) return problem;
  const { host, port } = target;
  const name = host.host.includes(":") ? `[${host.host}]` : host.host;
  return {
    kind: "target",
    ...target,
    path: path.startsWith("/") ? path : `/${path}`,
    authority: port === HTTP_PORT ? name : `${name}:${port}`,
  };
}

/** Where a request inside of a tunnel goes, whose TLS ends here: where the tunnel does. */
export function securedTarget(head: RequestHead, tunnel: TunnelTarget): ForwardTarget | EgressRefusal {
  if (!head.url.startsWith("/")) return malformed("inside of a tunnel a request names its path, from `/` on");
  const problem = headProblem(head, tunnel, HTTPS_PORT);
  if (problem !== undefined) return problem;
  return { ...tunnel, path: head.url.split("#", 1)[0] ?? "/", authority: securedAuthority(tunnel) };
}

/** What the `Host` header says over TLS, where another port goes without saying. */
export function securedAuthority({ host: { host }, port }: Target): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === HTTPS_PORT ? name : `${name}:${port}`;
}

function parseAuthority(text: string, defaultPort: number | undefined): Target | undefined {
  const [, name = "", digits] = AUTHORITY.exec(text) ?? [];
  const host = canonicalHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === undefined || port > PORT_MAX ? undefined : { host, port };
}

/** What of a head could be read in two ways. */
function headProblem(head: RequestHead, target: Target, defaultPort: number): EgressRefusal | undefined {
  if (head.rawHeaders.length > 2 * EGRESS_HEADERS_MAX) {
    return { ...malformed(`a request has at most ${EGRESS_HEADERS_MAX} headers; send fewer`), status: 431 };
  }
  if (head.httpVersion !== "1.1" && head.httpVersion !== "1.0") return malformed("the proxy speaks HTTP/1.1; use that");
  const hosts = valuesOf(head, "host");
  const named = hosts.length === 1 ? parseAuthority(hosts[0] ?? "", defaultPort) : undefined;
  if (hosts.length > 1) return malformed("a request has one `Host` header; send one");
  if (hosts.length === 1 && (named?.host.host !== target.host.host || named.port !== target.port)) {
    return malformed("the `Host` header names another host than the address; let them agree");
  }
  const encodings = valuesOf(head, "transfer-encoding");
  const isPlain =
    encodings.length === 0 ||
    (encodings.length === 1 && encodings[0]?.toLowerCase() === "chunked" && head.httpVersion === "1.1");
  if (!isPlain) return malformed("the only transfer encoding is `chunked`, once, in HTTP/1.1; send the body so");
  const listed = connectionNames(head.rawHeaders);
  if (FRAMING.some((name) => listed.has(name)))
    return malformed("`Connection` lists a header that says where a request goes or ends; leave it out");
  return undefined;
}

const FRAMING = ["host", "content-length", "transfer-encoding"];

/** What is between two neighbours and not passed on; `expect` is answered here. */
const BETWEEN_NEIGHBOURS = new Set([
  ..."connection keep-alive proxy-connection proxy-authenticate proxy-authorization".split(" "),
  ..."proxy-authentication-info te trailer upgrade http2-settings expect".split(" "),
]);

/** The headers of a request as they are passed on; those of `added` take the place of the client's own. */
export function forwardedHeaders(
  rawHeaders: readonly string[],
  authority: string,
  added: Readonly<Record<string, string>> = {},
): string[] {
  const replaced = new Set(["host", ...Object.keys(added).map((name) => name.toLowerCase())]);
  const more = Object.entries(added).flatMap(([name, value]) => (value === "" ? [] : [name, value]));
  return ["Host", authority, ...passedOn(rawHeaders, replaced), ...more, "Connection", "close"];
}

/** The headers of a request over a connection that is kept; how its body is framed is said anew. */
export function keptHeaders(rawHeaders: readonly string[], authority: string): string[] {
  return ["Host", authority, ...passedOn(rawHeaders, new Set(["host", "transfer-encoding"]))];
}

/** The headers of an answer as they are passed on; how it is framed is between the proxy and its client. */
export function answeredHeaders(rawHeaders: readonly string[]): string[] {
  return passedOn(rawHeaders, new Set(["transfer-encoding"]));
}

function passedOn(rawHeaders: readonly string[], without: ReadonlySet<string>): string[] {
  const listed = connectionNames(rawHeaders);
  const kept: string[] = [];
  for (const [name, value] of pairs(rawHeaders)) {
    const lower = name.toLowerCase();
    if (!BETWEEN_NEIGHBOURS.has(lower) && !without.has(lower) && (!listed.has(lower) || FRAMING.includes(lower)))
      kept.push(name, value);
  }
  return kept;
}

function connectionNames(rawHeaders: readonly string[]): ReadonlySet<string> {
  const values = [...pairs(rawHeaders)].flatMap(([name, value]) =>
    /^(?:proxy-)?connection$/i.test(name) ? value.split(",") : [],
  );
  return new Set(values.map((value) => value.trim().toLowerCase()));
}

function valuesOf({ rawHeaders }: RequestHead, wanted: string): readonly string[] {
  return [...pairs(rawHeaders)].flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []));
}

function* pairs(rawHeaders: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) yield [rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""];
}

function malformed(message: string): EgressRefusal {
  return { kind: "refusal", outcome: "refused", status: 400, reason: "malformed", message };
}
