/**
 * Serves `/metrics` to Prometheus, over HTTP without encryption.
 *
 * INVARIANTS: on a loopback address unless the operator says so, and then only for the host names that are given; a
 * request for anything else, or by another name, learns nothing.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { Registry } from "prom-client";
import { configInvalid, errorCode, usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../compose.ts";
import { callMetrics } from "./call-metrics.ts";
import { kernelMetrics } from "./kernel-metrics.ts";

/** Milliseconds of a request, and of making an answer. */
const REQUEST_MS = 10_000;
const CONNECTIONS_MAX = 16;

/** Where metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** Whether only this machine reaches it. */
  readonly isLoopback: boolean;
  /** Host names that requests may use; given where other machines are to reach it. */
  readonly remoteNames?: readonly string[] | undefined;
}

/** Served metrics. */
export interface MetricsServer {
  /** The port that it got. */
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Serves the metrics of `kernel`. @throws KernelError USAGE or CONFIG_INVALID for an address that cannot be had */
export async function serveMetrics(
  kernel: OpenKernel,
  { host, port, isLoopback, remoteNames }: MetricsAddress,
): Promise<MetricsServer> {
  if (!isLoopback && remoteNames === undefined)
    throw usageError(
      `other machines can reach \`${host}\`; use a loopback address, or name the hosts with --metrics-allow-remote`,
    );
  const registry = new Registry();
  const end = kernel.observe(callMetrics(registry));
  kernelMetrics(registry, kernel);
  const names = new Set(["localhost", "127.0.0.1", "[::1]", ...(remoteNames ?? [])].map((name) => name.toLowerCase()));
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, async (request, response) => {
    const status = statusOf(request, names);
    if (status !== 200) return void response.writeHead(status).end();
    try {
      const text = await registry.metrics();
      response.writeHead(200, { "content-type": registry.contentType }).end(text);
    } catch {
      response.writeHead(503).end("a metric cannot be measured now\n"); // a store that is busy, or gone: ask again
    }
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, "listening");
  } catch (cause) {
    end();
    throw configInvalid(
      `cannot serve metrics at \`${host}\` port ${port} (${errorCode(cause)}); choose another`,
      cause,
    );
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async close() {
      end();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function statusOf({ method, url, headers }: IncomingMessage, names: ReadonlySet<string>): number {
  const name = (headers.host ?? "").toLowerCase().replace(/:\d+$/, "");
  if (!names.has(name)) return 421;
  if (url?.split("?")[0] !== "/metrics") return 404;
  return method === "GET" || method === "HEAD" ? 200 : 405;
}
