/**
 * Keeps web pages out: a page that a person opens must not reach the kernel through that person's browser.
 *
 * A request that names an origin comes from a page and is refused; there is no cross-origin access to grant. On a TCP
 * address the request must also name a host that is an IP address, `localhost` or a name the operator gave: a page
 * whose own name was pointed at this machine (DNS rebinding) gives itself away by that name. A request that names two
 * hosts could be two requests to two readers, and is none here.
 */
import { isIP } from "node:net";

/** Which host names a front door answers to; `any` where only this user can connect anyway. */
export type AllowedHosts = "any" | { readonly names: readonly string[] };

/** Why a request is refused before anything of it is looked at. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/**
 * The refusal of a request with these headers, if it is one to refuse. @param hosts all that it names, in whatever way
 */
export function refusePages(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  hosts: readonly string[],
  allowed: AllowedHosts,
): Refusal | undefined {
  if (headers["origin"] !== undefined) {
    return { status: 403, message: "requests of web pages are refused; use a client that sends no `origin`" };
  }
  // HTTP/2 may name the same host as `:authority` and as `host`.
  const [host] = hosts;
  const isTwice =
    headers[":authority"] === undefined ? hosts.length > 1 : hosts.length > 2 || hosts.some((named) => named !== host);
  if (isTwice) return { status: 400, message: "the request names its host more than once; send one `host`" };
  if (allowed === "any") return undefined;
  if (host === undefined) return { status: 400, message: "the request names no host" };
  const name = hostName(host);
  if (name !== undefined && (isIP(name) !== 0 || name === "localhost" || allowed.names.includes(name)))
    return undefined;
  return { status: 421, message: "this is not a host that the kernel answers to; use its IP address or `localhost`" };
}

/**
 * The headers without an origin that is the address asked itself: this front serves no pages, so that no page has it,
 * and the name of the host is looked at in any case.
 */
export function withoutOwnOrigin<Named extends Readonly<Record<string, string | readonly string[] | undefined>>>(
  headers: Named,
): Readonly<Record<string, string | readonly string[] | undefined>> {
  const { origin, ...others } = headers;
  const host = headers["host"] ?? headers[":authority"];
  return typeof host === "string" && origin === `http://${host}` ? others : headers;
}

/** The name or address of `name:port` or `[address]:port`, in lower case; `undefined` if it is neither. */
function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/.exec(host.toLowerCase());
  return match?.[1] ?? match?.[2];
}
