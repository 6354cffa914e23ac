/**
 * The fast path: length-delimited `ToolRequest` and `ToolResponse` frames over a Unix socket, pipelined, answers
 * matched by `request_id`.
 *
 * Who may connect is the file system's business (mode 0600 in a directory nobody else can write); who may do what is
 * the kernel's, by each request's session token. A client keeps its connection open until it has its answers: one that
 * closes it is gone, and its calls are aborted.
 */
import { createServer, type Server, type Socket } from "node:net";
import { type Clock, systemClock } from "../../base/clock.ts";
import { errorAnswer } from "./answers.ts";
import { Connection, type ConnectionHost } from "./connection.ts";
import { DEFAULT_FRAMED_LIMITS, type FramedLimits } from "./limits.ts";
import { clearSocketPath, listenOwnerOnly } from "./socket-file.ts";

/** How to serve. */
export interface FramedOptions {
  readonly socketPath: string;
  /**
   * Runs one encoded request; `end`, of this request alone, aborts when the client is gone. The bytes are never changed
   * afterwards.
   */
  readonly execute: (request: Uint8Array, end: AbortController) => Promise<Uint8Array>;
  readonly limits?: Partial<FramedLimits>;
  /** Gets failures that no client may see. */
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
}

/** A socket that is being served. */
export interface FramedServer {
  /** Takes no more calls, aborts those in flight, answers what still answers, and removes the socket. */
  readonly close: () => Promise<void>;
}

/** Milliseconds between two looks for stalled connections, at most. */
const SWEEP_MS_MAX = 1_000;

/** Serves `socketPath` until closed. @throws KernelError CONFIG_INVALID when no socket can be there */
export async function serveFramed(options: FramedOptions): Promise<FramedServer> {
  const limits = { ...DEFAULT_FRAMED_LIMITS, ...options.limits };
  const clock = options.clock ?? systemClock;
  const connections = new Set<Connection>();
  let heldBytes = 0;
  const host: ConnectionHost = {
    execute: options.execute,
    limits,
    nowMs: clock.monotonicMs,
    onError: options.onError,
    hold: (changeBytes) => {
      heldBytes += changeBytes;
      return heldBytes <= limits.heldBytesMax;
    },
    onGone: (connection) => connections.delete(connection),
  };
  const server = createServer((socket) => admit(socket, host, connections));
  await clearSocketPath(options.socketPath);
  await listenOwnerOnly(server, options.socketPath);
  server.on("error", options.onError);
  const sweeper = setInterval(
    () => sweep(connections, clock.monotonicMs()),
    Math.min(SWEEP_MS_MAX, Math.max(1, limits.stallMs / 4)),
  );
  sweeper.unref();
  return {
    close: () => {
      clearInterval(sweeper);
      return close(server, connections, limits.closeGraceMs);
    },
  };
}

function admit(socket: Socket, host: ConnectionHost, connections: Set<Connection>): void {
  const full = connections.size >= host.limits.connectionsMax;
  if (full && connections.size >= 2 * host.limits.connectionsMax) {
    socket.destroy(); // even refusals are bounded
    return;
  }
  const connection = new Connection(socket, host);
  connections.add(connection);
  if (full)
    connection.refuse(
      errorAnswer("RESOURCE_BUSY", "too many connections; close one or try again later", { retryAfterMs: 1000 }),
    );
}

function sweep(connections: ReadonlySet<Connection>, nowMs: number): void {
  for (const connection of connections) connection.sweep(nowMs);
}

/** Milliseconds that a closing server gives peers that owe it nothing but their end. */
const IDLE_GRACE_MS = 500;

async function close(server: Server, connections: ReadonlySet<Connection>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  for (const connection of connections) connection.shutDown();
  const idle = setTimeout(
    () => {
      for (const connection of connections) if (connection.isIdle) connection.destroy();
    },
    Math.min(IDLE_GRACE_MS, graceMs),
  );
  const deadline = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, graceMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(deadline);
}
