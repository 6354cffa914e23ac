/**
 * Answers Prometheus over HTTP (`GET /metrics`) on an address of its own.
 *
 * INVARIANTS: other machines reach it only where the operator has said so. Pages in a person's browser do not: a
 * request that names an origin, or a host that this door does not answer to, is refused. A body is never read.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { usageError } from "../../base/errors.ts";
import { refusePages } from "../../transports/connect/index.ts";
import type { OpenKernel } from "../compose.ts";
import { openMetrics } from "../metrics/metrics.ts";
import { hostName, isLoopback, listenTcp, parseTcpAddress } from "./http-address.ts";

/** Connections at once: one for each Prometheus, and some for people. */
const CONNECTIONS_MAX = 32;
/** Bytes of a request's head. */
const HEAD_BYTES_MAX = 8192;
/** Milliseconds for a request's head, and for a whole request. */
const REQUEST_MS = 10_000;
/** Milliseconds for which a connection without a request is kept: longer than most scrape intervals. */
const KEPT_MS = 65_000;
const PATH = "/metrics";

/** Where metrics are served. */
export interface MetricsAddress {
  /** `HOST:PORT`, `[ADDRESS]:PORT` or `PORT`. */
  readonly listen: string;
  /** Lets it be an address that other machines reach; the host names by which they ask. */
  readonly allowRemote?: readonly string[] | undefined;
}

/** Metrics that are served. */
export interface MetricsServer {
  /** With the port that the system chose. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves the metrics of `kernel` until closed.
 * @throws KernelError USAGE for an address that other machines reach without that being allowed; CONFIG_INVALID where
 *   it cannot be listened on
 */
export async function serveMetrics(kernel: OpenKernel, address: MetricsAddress): Promise<MetricsServer> {
  const { host, port } = parseTcpAddress(address.listen);
  if (!isLoopback(host) && address.allowRemote === undefined)
    throw usageError(
      `other machines can reach \`${host}\`, and metrics have no encryption or password; use a loopback address, or, behind something that has both, add --metrics-allow-remote (\`metrics.allow_remote\`)`,
    );
  const names = (address.allowRemote ?? []).map((name) => hostName(name, "--metrics-allow-remote"));
  const metrics = openMetrics(kernel);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const refusal = refused(request, names);
    if (refusal !== undefined) return end(request, response, { ...refusal, text: `${refusal.text}\n` });
    metrics.text().then(
      (text) => end(request, response, { status: 200, type: metrics.contentType, text }),
      (error: unknown) => {
        kernel.reportDoorError(error);
        end(request, response, { status: 500, text: "the metrics cannot be read; the kernel's log has the cause\n" });
      },
    );
  };
  const server = createServer({ maxHeaderSize: HEAD_BYTES_MAX, requestTimeout: REQUEST_MS, keepAliveTimeout: KEPT_MS });
  server.headersTimeout = REQUEST_MS;
  server.maxConnections = CONNECTIONS_MAX;
  server.on("request", answer);
  let chosen = port;
  try {
    await listenTcp(server, { host, port, option: "--metrics" }, (got) => {
      chosen = got;
    });
  } catch (error) {
    metrics.close();
    throw error;
  }
  server.on("error", (error) => kernel.reportDoorError(error));
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}${PATH}`,
    async close() {
      metrics.close();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

/** Why a request is not answered with metrics. */
function refused({ headers, headersDistinct, method, url }: IncomingMessage, names: readonly string[]) {
  const page = refusePages(headers, headersDistinct["host"] ?? [], { names });
  if (page !== undefined) return { status: page.status, text: page.message };
  const [path] = (url ?? "").split("?", 1);
  if (path !== PATH) return { status: 404, text: `there is only ${PATH} here` };
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "send GET" };
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
  return hasBody ? { status: 413, text: "send no body" } : undefined;
}

function end({ method }: IncomingMessage, response: ServerResponse, { status, text, type }: Answer): void {
  if (response.destroyed) return;
  const isRefusal = status !== 200;
  response.writeHead(status, {
    "content-type": type ?? "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(isRefusal && { connection: "close" }), // what else comes on it is not read
  });
  response.end(method === "HEAD" ? undefined : text);
}
