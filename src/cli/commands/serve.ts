/**
 * Serves the kernel on a framed Unix socket and, if asked, over HTTP (`handrail serve`).
 *
 * HTTP carries MCP, Connect, gRPC and gRPC-Web. Clients bring a session token.
 */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { OpenKernel } from "../../server/compose.ts";
import { openFromFlags, type ServingFlags, withServingOptions } from "../start/kernel-options.ts";
import { type MetricsFlags, serveMetricsIfAsked, withMetricsOptions } from "../start/metrics-options.ts";
import { untilStopped } from "../start/stop-signals.ts";
import { say } from "../terminal/output.ts";

interface ServeFlags extends ServingFlags, MetricsFlags {
  readonly socket?: string;
  readonly http?: string | true;
  readonly httpSocket?: string | true;
  readonly httpAllowRemote?: string[] | true;
}

/** Where HTTP is served when `--http` names no address. */
const DEFAULT_HTTP = "127.0.0.1:7465";

/** Adds `handrail serve`. */
export function addServeCommand(program: Command): void {
  const command = program
    .command("serve")
    .description("serve the kernel on a framed Unix socket and, if asked for, over HTTP (MCP, Connect, gRPC, gRPC-Web)")
    .option("--socket <path>", "path of the framed socket (default: handrail.sock in the state directory)")
    .option("--http [host:port]", `also serve HTTP on a loopback address (default: ${DEFAULT_HTTP}; port 0: any)`)
    .option(
      "--http-socket [path]",
      "also serve HTTP on a Unix socket (default: handrail-http.sock in the state directory)",
    )
    .option(
      "--http-allow-remote [names...]",
      "let --http listen where other machines reach it, without encryption, under these host names",
    );
  withServingOptions(withMetricsOptions(command)).action(async (flags: ServeFlags) => {
    const kernel = await openFromFlags(flags);
    try {
      const { serveSocket } = await import("../../server/doors/serve-framed.ts");
      await kernel.ready(); // what cannot record anything would refuse every call
      const path = flags.socket === undefined ? join(kernel.stateDirectory, "handrail.sock") : resolve(flags.socket);
      const server = await serveSocket(kernel, path);
      // Whatever has been opened is closed, also when the next address cannot be listened on.
      const opened: { readonly close: () => Promise<void> }[] = [server];
      try {
        const { metrics: settings } = kernel.operator.settings;
        for (const open of [() => serveHttpIfAsked(kernel, flags), () => serveMetricsIfAsked(kernel, flags, settings)])
          opened.push(...[await open()].filter((one) => one !== undefined));
      } catch (error) {
        await Promise.all(opened.map((one) => one.close()));
        throw error;
      }
      const stopped = untilStopped(); // whoever has read the line may stop it at once
      say(`handrail: listening on ${path}; make a session with \`handrail sessions create --workspace DIR\``);
      tellOfPolicy(kernel);
      await stopped;
      await Promise.all(opened.map((one) => one.close()));
    } finally {
      await kernel.close();
    }
  });
}

/** A preset that cannot be loaded refuses every call, and whoever started this should know it before the first. */
function tellOfPolicy(kernel: OpenKernel): void {
  kernel.loadPolicy().catch((error: unknown) => {
    say(`handrail: every call will be refused: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** Serves HTTP where the flags say so, and says how to connect. */
async function serveHttpIfAsked(
  kernel: OpenKernel,
  flags: ServeFlags,
): Promise<{ readonly close: () => Promise<void> } | undefined> {
  const { http, httpSocket, httpAllowRemote } = flags;
  if (http === undefined && httpAllowRemote !== undefined)
    throw usageError("--http-allow-remote goes with --http HOST:PORT");
  if (http === undefined && httpSocket === undefined) return undefined;
  const { parseTcpAddress, tcpAddress, unixAddress } = await import("../../server/doors/http-address.ts");
  const { hasAdminCredential } = await import("../../server/people/admin-credential.ts");
  const { serveHttp } = await import("../../server/doors/serve-connect.ts");
  const addresses: Parameters<typeof serveHttp>[1][number][] = [];
  const places: string[] = [];
  if (http !== undefined) {
    const tcp = parseTcpAddress(http === true ? DEFAULT_HTTP : http);
    const remote =
      httpAllowRemote === undefined ? undefined : { names: httpAllowRemote === true ? [] : httpAllowRemote };
    const named = tcp.host.includes(":") ? `[${tcp.host}]` : tcp.host;
    addresses.push(tcpAddress(tcp, remote, (port) => places.push(`http://${named}:${port}`)));
  }
  if (httpSocket !== undefined) {
    const path = httpSocket === true ? join(kernel.stateDirectory, "handrail-http.sock") : resolve(httpSocket);
    addresses.push(unixAddress(path));
    places.push(`unix:${path}`);
  }
  const server = await serveHttp(kernel, addresses);
  for (const place of places)
    say(
      `handrail: Connect, gRPC and gRPC-Web at ${place}; MCP at ${place}${place.startsWith("unix:") ? ", path " : ""}/mcp`,
    );
  if (!(await hasAdminCredential(kernel.stateDirectory))) {
    say("handrail: there is no admin credential, so nobody can use KernelAdmin; `handrail admin token` makes one");
  }
  return server;
}
