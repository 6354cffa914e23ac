/**
 * Defines the requests that the kernel makes over TLS in a command's place.
 *
 * The command sends them in plain text to the proxy, which verifies the server and adds what the command must not see.
 *
 * INVARIANT: where a command has such a way, nothing else leaves: no tunnel, no plain request, and no request that was
 * not judged by itself.
 */

import { isIP, type Socket } from "node:net";
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";

/** A request, as it is judged. */
export interface SecureRequest {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
}

/** What may be said over TLS. */
export interface SecureWay {
  /** Headers that the request gets; `undefined` when it may not be made. */
  readonly admit: (request: SecureRequest) => Readonly<Record<string, string>> | undefined;
  /** Authorities that are believed beside those of the machine, as PEM. */
  readonly authorities?: string;
  /** Every admitted request goes to one server, which may lie outside of the public internet. */
  readonly isPrivate?: boolean;
  /** What a refused request is answered; safe for the agent. */
  readonly message: string;
}

/** Making one reads hundreds of certificates. */
const contexts = new Map<string, SecureContext>();
const CONTEXTS_MAX = 4;

function contextOf(authorities = ""): SecureContext {
  const known = contexts.get(authorities);
  if (known !== undefined) return known;
  const ca = [
    ...new Set([...getCACertificates("default"), ...getCACertificates("system")]),
    ...(authorities === "" ? [] : [authorities]),
  ];
  const made = createSecureContext({ ca, minVersion: "TLSv1.2" });
  if (contexts.size >= CONTEXTS_MAX) contexts.clear();
  contexts.set(authorities, made);
  return made;
}

/**
 * TLS over a connection, to the server that proves to be `host`.
 * @returns once that is proven, or the code of what is wrong
 */
export function secured(
  socket: Socket,
  host: string,
  authorities: string | undefined,
): Promise<TLSSocket | { readonly problem: string }> {
  const { promise, resolve } = Promise.withResolvers<TLSSocket | { readonly problem: string }>();
  const over = connect({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    secureContext: contextOf(authorities),
    rejectUnauthorized: true,
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    ALPNProtocols: ["http/1.1"],
  });
  over.once("secureConnect", () => resolve(over));
  over.once("error", (error) => resolve({ problem: "code" in error ? String(error.code) : "UNKNOWN" }));
  over.once("close", () => {
    socket.destroy();
    resolve({ problem: "CLOSED" });
  });
  return promise;
}
