/**
 * A tunnel: bytes both ways, of which only the name in the first message of TLS is looked at.
 *
 * Decides that a client that names another server than the tunnel was opened for goes nowhere. INVARIANTS: nothing that
 * the client sends leaves before that is known; a side that ends leaves the other open; a side that does not read stops
 * the other.
 */
import type { Socket } from "node:net";

import { canonicalHost } from "../../../names/host-name.ts";
import type { Attempt } from "../gate/attempt.ts";
import type { TunnelTarget } from "./proxy-request.ts";
import { type FirstBytes, readFirstBytes } from "./server-name.ts";
import type { Upstream, Upstreams } from "./upstreams.ts";

/** Pieces in which that message may come: clients send it in one or two, and each is looked at with all before it. */
const EGRESS_HELLO_PIECES_MAX = 64;

/** What a client is told when its tunnel stands. */
export const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";
/** A fatal alert of TLS, `unrecognized_name`: what a client can show of a refusal at this point. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** A client that asked for a tunnel. */
export interface TunnelClient {
  readonly client: Socket;
  /** What the client sent before it knew that the tunnel stands. */
  readonly head: Buffer;
  readonly attempt: Attempt;
}

/** The connection that a tunnel leads to, and the target that it was opened for. */
export interface TunnelRoute {
  readonly target: TunnelTarget;
  readonly upstream: Upstream;
}

/** Joins both sides until both are closed. */
export async function tunnel(
  { client, head, attempt }: TunnelClient,
  route: TunnelRoute,
  upstreams: Upstreams,
): Promise<void> {
  const { target, upstream } = route;
  const { socket } = upstream;
  const closed = [client, socket].map(
    (side) => new Promise<void>((resolve) => (side.closed ? resolve() : side.once("close", () => resolve()))),
  );
  if (client.closed) upstream.cut("closed");
  client.once("close", () => (client.readableEnded ? socket.destroySoon() : upstream.cut("closed")));
  socket.once("close", () => client.destroySoon());
  client.on("data", (piece: Buffer) => upstreams.count("sent", piece.length));
  socket.on("data", (piece: Buffer) => upstreams.count("received", piece.length));
  client.write(ESTABLISHED);
  socket.pipe(client);
  const { bytes, found, isEnd } = await firstBytes(client, head);
  const problem = nameProblem(found, target);
  if (problem !== undefined) {
    attempt.end("refused", "server_name", { ...upstream.detail, ...problem });
    socket.unpipe(client);
    client.end(UNRECOGNIZED_NAME, () => client.destroySoon());
    upstream.cut("server_name");
  } else {
    socket.write(bytes);
    if (isEnd) socket.end();
    else client.pipe(socket);
  }
  await Promise.all(closed);
  attempt.moved(socket.bytesWritten, socket.bytesRead);
  attempt.end("allowed", upstream.cutBy === "closed" ? undefined : upstream.cutBy, upstream.detail);
}

interface First {
  readonly bytes: Buffer;
  readonly found: FirstBytes;
  /** The client sends no more. */
  readonly isEnd: boolean;
}

/** The first bytes of the client, as many as say what they are; none are read beyond until somebody takes them. */
function firstBytes(client: Socket, head: Buffer): Promise<First> {
  const { promise, resolve } = Promise.withResolvers<First>();
  let bytes = head;
  let pieces = 0;
  const settle = (found: FirstBytes, isEnd: boolean) => {
    client.off("data", take).off("end", end).off("close", end);
    client.pause();
    resolve({ bytes, found, isEnd });
  };
  const take = (piece: Buffer) => {
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    pieces += 1;
    const found = readFirstBytes(bytes);
    if (found.kind !== "more") settle(found, false);
    else if (pieces > EGRESS_HELLO_PIECES_MAX) settle({ kind: "broken" }, false);
  };
  const end = () => settle({ kind: bytes.length === 0 ? "other" : "broken" }, true);
  client.on("data", take).once("end", end).once("close", end);
  if (client.closed) end();
  else if (head.length > 0) take(Buffer.alloc(0));
  return promise;
}

/** What the record says of a client that may not go on; `undefined` when it may. */
function nameProblem(found: FirstBytes, { host }: TunnelTarget): { readonly serverName?: string } | undefined {
  if (found.kind === "broken") return {};
  if (found.kind !== "hello" || found.serverName === undefined) return undefined;
  const named = canonicalHost(found.serverName);
  if (named?.host === host.host) return undefined;
  return named === undefined ? {} : { serverName: named.host };
}
