/** Options by which a command also serves metrics, and how it does. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { say } from "../terminal/output.ts";

/** Where metrics are served when `--metrics` names no address. */
const DEFAULT_METRICS = "127.0.0.1:9464";

/** The options as commander parses them. */
export interface MetricsFlags {
  readonly metrics?: string | true;
  readonly metricsAllowRemote?: string[] | true;
}

/** Adds `--metrics` and `--metrics-allow-remote`. */
export function withMetricsOptions(command: Command): Command {
  return command
    .option("--metrics [host:port]", `also answer Prometheus at /metrics (default: ${DEFAULT_METRICS}; port 0: any)`)
    .option(
      "--metrics-allow-remote [names...]",
      "let --metrics listen where other machines reach it, without encryption, under these host names",
    );
}

/** Metrics that are served; `url` says where. */
interface ServedMetrics {
  readonly close: () => Promise<void>;
}

/**
 * Serves metrics where the flags ask for it.
 * @param settings what the operator's settings say, for commands that go by them where no flag does
 */
export async function serveMetricsIfAsked(
  kernel: OpenKernel,
  { metrics, metricsAllowRemote: names }: MetricsFlags,
  settings: Partial<OpenKernel["operator"]["settings"]["metrics"]> = {},
): Promise<ServedMetrics | undefined> {
  const listen = metrics === true ? DEFAULT_METRICS : (metrics ?? settings.listen);
  if (listen === undefined) {
    if (names !== undefined) throw usageError("--metrics-allow-remote goes with --metrics HOST:PORT");
    return undefined;
  }
  const { serveMetrics } = await import("../../server/doors/serve-metrics.ts");
  const allowRemote = names === true ? [] : (names ?? settings.allow_remote);
  const served = await serveMetrics(kernel, { listen, ...(allowRemote && { allowRemote }) });
  say(`handrail: metrics at ${served.url}`);
  return served;
}
