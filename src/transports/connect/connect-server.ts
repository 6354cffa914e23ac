/**
 * The HTTP front door: Connect, gRPC and gRPC-Web, on any number of addresses, over HTTP/1.1 and clear-text HTTP/2.
 *
 * Who may do what is the kernel's business, by each request's session token, and for administration the admin
 * credential's. Compression is off in both directions: a compressed message can be far larger than it looks, and nothing
 * leaves this machine. A client that is gone, or whose deadline is over, has its call aborted.
 */
import type { Server } from "node:net";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { type Clock, systemClock } from "../../base/clock.ts";
import { RPC_MESSAGE_BYTES_MAX, RPC_TIMEOUT_MAX_MS } from "../../base/limits.ts";
import { KernelAdmin } from "../../gen/handrail/admin/v1/admin_pb.ts";
import { ToolKernel } from "../../gen/handrail/tool/v1/kernel_pb.ts";
import { responseBytes } from "../../wire/protobuf.ts";
import type { AdminPort } from "./admin-port.ts";
import { adminGate, adminService } from "./admin-service.ts";
import { EXCHANGE, serveRequest } from "./exchange.ts";
import { Front } from "./front.ts";
import type { AllowedHosts } from "./guard.ts";
import { type KernelServiceHost, kernelService, RAW_METHODS } from "./kernel-service.ts";
import { type ConnectLimits, DEFAULT_CONNECT_LIMITS } from "./limits.ts";

/** An address to serve on. */
export interface ConnectAddress {
  /** Makes a server listen; rejects with a KernelError that says why it cannot. */
  readonly listen: (server: Server) => Promise<void>;
  readonly allowedHosts: AllowedHosts;
}

/** How to serve. */
export interface ConnectOptions extends KernelServiceHost {
  readonly addresses: readonly ConnectAddress[];
  /** Without it there is no administration here. */
  readonly admin?: AdminPort;
  readonly limits?: Partial<ConnectLimits>;
  readonly clock?: Clock;
}

/** Addresses that are being served. */
export interface ConnectServer {
  /** Takes no more calls, aborts those in flight, answers what still answers, and closes every connection. */
  readonly close: () => Promise<void>;
}

/** Serves until closed. @throws KernelError CONFIG_INVALID when an address cannot be listened on */
export async function serveConnect(options: ConnectOptions): Promise<ConnectServer> {
  const limits = { ...DEFAULT_CONNECT_LIMITS, ...options.limits };
  const clock = options.clock ?? systemClock;
  const shutDown = new AbortController();
  const { handlers } = routesOf(options, shutDown.signal);
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  const rawPaths = new Set(RAW_METHODS.map(pathOf));
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return heldBytes <= limits.heldBytesMax;
  };
  const unary = {
    path: pathOf(ToolKernel.method.execute),
    host: {
      execute: async (bytes: Uint8Array, signal: AbortSignal) => responseBytes(await options.door.execute({ kind: "wire", bytes }, signal)),
      requestBytesMax: limits.requestBytesMax,
      stallMs: limits.stallMs,
      shutdownSignal: shutDown.signal,
      hold,
      onError: options.onError,
    },
  };
  const fronts: Front[] = [];
  const close = async () => {
    const abort = () => shutDown.abort(new ConnectError("the kernel is shutting down", Code.Unavailable));
    await Promise.all(fronts.map((front) => front.close(abort)));
  };
  try {
    for (const { listen, allowedHosts } of options.addresses) {
      const host = { handlers: byPath, unary, rawPaths, allowedHosts, limits, hold, onError: options.onError };
      const front = new Front({
        limits,
        nowMs: clock.monotonicMs,
        serve: (request, response, refusal) => serveRequest(host, request, response, refusal),
        onError: options.onError,
      });
      fronts.push(front);
      await listen(front.server);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function routesOf(options: ConnectOptions, shutdownSignal: AbortSignal): ConnectRouter {
  const router = createConnectRouter({
    acceptCompression: [],
    maxTimeoutMs: RPC_TIMEOUT_MAX_MS,
    readMaxBytes: RPC_MESSAGE_BYTES_MAX,
    shutdownSignal,
    requestGate: takesCalls,
    jsonOptions: { ignoreUnknownFields: false },
  });
  router.service(ToolKernel, kernelService(options));
  if (options.admin !== undefined) {
    const isAdmin = adminGate(options.admin, options.onError);
    router.service(KernelAdmin, adminService(options.admin, options.onError), {
      requestGate: async (context) => {
        takesCalls(context);
        await isAdmin(context);
      },
    });
  }
  return router;
}

/** Refuses a call when there are too many, or when the front door is closing, before anything of it is read. */
function takesCalls(context: HandlerContext): void {
  const refusal = context.values.get(EXCHANGE)?.refusal;
  if (refusal !== undefined) throw refusal;
}
