/** The option `--metrics`, of commands that serve: Prometheus reads how the kernel is. */
import type { Command } from "commander";
import type { OpenKernel } from "../../server/compose.ts";
import { say } from "../terminal/output.ts";

/** Where metrics are served when `--metrics` names no address. */
const DEFAULT_METRICS = "127.0.0.1:9464";

/** The options as commander parses them. */
export interface MetricsFlags {
  readonly metrics?: string | true;
  readonly metricsAllowRemote?: string[];
}

/** Adds the options. */
export function withMetricsOptions(command: Command): Command {
  return command
    .option(
      "--metrics [host:port]",
      `serve Prometheus metrics at /metrics there (default: ${DEFAULT_METRICS}; port 0: any)`,
    )
    .option(
      "--metrics-allow-remote <names...>",
      "let --metrics listen where other machines reach it, under these names",
    );
}

/** Serves metrics where the flags say so. @returns what ends it */
export async function serveMetricsIfAsked(
  kernel: OpenKernel,
  { metrics, metricsAllowRemote: remoteNames }: MetricsFlags,
): Promise<(() => Promise<void>) | undefined> {
  if (metrics === undefined) return undefined;
  const { isLoopback, parseTcpAddress } = await import("../../server/doors/http-address.ts");
  const { serveMetrics } = await import("../../server/metrics/serve-metrics.ts");
  const { host, port } = parseTcpAddress(metrics === true ? DEFAULT_METRICS : metrics);
  const server = await serveMetrics(kernel, { host, port, isLoopback: isLoopback(host), remoteNames });
  say(`handrail: metrics at http://${host.includes(":") ? `[${host}]` : host}:${server.port}/metrics`);
  return server.close;
}
