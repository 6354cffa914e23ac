/**
 * Reads the address of a web page in the one way in which it is judged, connected to and recorded.
 *
 * INVARIANT: host and port are what the text plainly says: an address whose host programs could read differently, or
 * that carries a user, is none.
 */
import { type CanonicalHost, canonicalHost } from "./host-name.ts";

/** Characters of an address. */
export const WEB_ADDRESS_CHARACTERS_MAX = 8192;

/** An address in its one form. */
export interface WebAddress {
  readonly scheme: "http" | "https";
  readonly host: CanonicalHost;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** All of it, without what stands behind `#`. */
  readonly url: string;
}

const AUTHORITY = /^(https?):\/\/([^/?#\\]*)/i;
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/;

/** Reads `text`. @param base what a relative address is meant from @returns why it cannot be used, where it cannot */
export function webAddress(text: string, base?: WebAddress): WebAddress | { readonly problem: string } {
  if (text.length > WEB_ADDRESS_CHARACTERS_MAX) return { problem: "it is too long" };
  // deletes what browsers delete without a word, which a person who is asked would not see either
  if (/[\p{Cc}\p{Cf}\s]/u.test(text)) return { problem: "it holds spaces or invisible characters" };
  const [, , written] = AUTHORITY.exec(text) ?? [];
  if (written === undefined && base === undefined)
    return { problem: "it must begin with `https://` or `http://` and a host" };
  if (!URL.canParse(text, base?.url)) return { problem: "it cannot be read" };
  const url = new URL(text, base?.url);
  const scheme = SCHEMES.get(url.protocol);
  if (scheme === undefined) return { problem: "only `https` and `http` are spoken" };
  if (url.username !== "" || url.password !== "" || written?.includes("@") === true)
    return { problem: "it carries a user or password, which would be shown wherever it is" };
  const named = canonicalHost(url.hostname);
  const [, plain = "", digits] = HOST_AND_PORT.exec(written ?? url.host) ?? [];
  const host = canonicalHost(plain);
  if (named === undefined || host === undefined || named.host !== host.host)
    return { problem: "its host is none, or could be read in two ways" };
  const port = digits === undefined || digits === "" ? PORTS[scheme] : Number(digits);
  if (port < 1 || port > 65_535) return { problem: "its port is none" };
  url.hash = "";
  return { scheme, host, port, path: `${url.pathname}${url.search}`, url: url.href };
}

const SCHEMES: ReadonlyMap<string, WebAddress["scheme"]> = new Map([
  ["http:", "http"],
  ["https:", "https"],
]);
const PORTS = { http: 80, https: 443 } as const;

/** Whether both lead to the same server by the same protocol. */
export function sameServer(left: WebAddress, right: WebAddress): boolean {
  return left.scheme === right.scheme && left.host.host === right.host.host && left.port === right.port;
}
