/**
 * Checks the HTTP front door's address: a TCP address, or a Unix socket of this user.
 *
 * The front door has no encryption of its own.
 *
 * INVARIANT: it is on an address that other machines can reach only when the operator has said so explicitly.
 */
import type { Server } from "node:net";
import { isIP } from "node:net";
import { configInvalid, errorCode, usageError } from "../../base/errors.ts";
import { HTTP_CONNECTIONS_MAX } from "../../base/limits.ts";
import type { ConnectAddress } from "../../transports/connect/index.ts";
import { clearSocketPath, listenOwnerOnly } from "../../transports/framed/index.ts";

/** Characters of a host name (RFC 1035, section 2.3.4). */
const HOST_NAME_CHARACTERS_MAX = 253;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** A TCP address. */
export interface TcpAddress {
  /** An IP address, or `localhost`. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Reads `HOST:PORT`, `[ADDRESS]:PORT` or `PORT`. @throws KernelError USAGE */
export function parseTcpAddress(text: string): TcpAddress {
  const match = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):)?(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? "127.0.0.1";
  const port = Number(match?.[3]);
  if (!match || port > 65_535 || (isIP(host) === 0 && host !== "localhost")) {
    throw usageError(`\`${text}\` is no address; write one such as 127.0.0.1:7465 or [::1]:7465`);
  }
  return { host: host === "localhost" ? "127.0.0.1" : host, port };
}

/** Whether only this machine reaches `host`. */
export function isLoopback(host: string): boolean {
  return host === "::1" || /^127(\.\d{1,3}){3}$/.test(host) || /^::ffff:127(\.\d{1,3}){3}$/i.test(host);
}

/**
 * The TCP address as the front door takes it; `onListening` is told the port that it got.
 * @param allowRemote whether an address that other machines reach is wanted
 * @throws KernelError USAGE for such an address without that
 */
export function tcpAddress(
  { host, port }: TcpAddress,
  allowRemote: { readonly names: readonly string[] } | undefined,
  onListening: (port: number) => void,
): ConnectAddress {
  if (!isLoopback(host) && allowRemote === undefined) {
    throw usageError(
      `other machines can reach \`${host}\`, and this port has no encryption: session tokens and file contents could be read on the way; use a loopback address or --http-socket, or, behind something that encrypts, add --http-allow-remote`,
    );
  }
  const names = (allowRemote?.names ?? []).map((name) => hostName(name));
  const chosen = { host, port, option: "--http" };
  return { listen: (server) => listenTcp(server, chosen, onListening), allowedHosts: { names } };
}

/**
 * A name as requests are compared with it: in lower case.
 * @param option what gives it, for messages
 * @throws KernelError USAGE for what no request can name
 */
export function hostName(text: string, option = "--http-allow-remote"): string {
  const name = text.toLowerCase();
  if (name.length <= HOST_NAME_CHARACTERS_MAX && HOST_NAME.test(name)) return name;
  throw usageError(`\`${text}\` is no host name; give ${option} names such as kernel.example, without port`);
}

/** The Unix socket as the front door takes it: only this user can open it. */
export function unixAddress(path: string): ConnectAddress {
  return {
    listen: async (server) => {
      await clearSocketPath(path);
      await listenOwnerOnly(server, path, HTTP_CONNECTIONS_MAX);
    },
    allowedHosts: "any",
  };
}

/** Listens there; `option` is what chose the address, for messages. @throws KernelError CONFIG_INVALID */
export async function listenTcp(
  server: Server,
  { host, port, option }: TcpAddress & { readonly option: string },
  onListening: (port: number) => void,
): Promise<void> {
  await new Promise<void>((done, failed) => {
    server.once("listening", done);
    server.once("error", (cause) =>
      failed(
        configInvalid(
          `cannot listen at \`${host}\` port ${port}${whyNot(cause)}; choose another with ${option}`,
          cause,
        ),
      ),
    );
    server.listen({ host, port, exclusive: true, backlog: HTTP_CONNECTIONS_MAX });
  });
  const address = server.address();
  onListening(typeof address === "object" && address !== null ? address.port : port);
}

/** Why a port cannot be had, in words, where that is known. */
function whyNot(cause: unknown): string {
  const why = { EADDRINUSE: "another program listens there", EACCES: "this user may not listen there" };
  const found = Object.entries(why).find(([code]) => code === errorCode(cause));
  return found === undefined ? "" : ` (${found[1]})`;
}
