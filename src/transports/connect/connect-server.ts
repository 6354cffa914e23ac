/**
 * The HTTP front door: Connect, gRPC and gRPC-Web, on any number of addresses, over HTTP/1.1 and clear-text HTTP/2.
 *
 * Who may do what is the kernel's business, by each request's session token, and for administration the admin
 * credential's. Compression is off in both directions: a compressed message can be far larger than it looks, and
 * nothing leaves this machine. A client that is gone, or whose deadline is over, has its call aborted.
 */
import type { Server } from "node:net";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { KIB, MIB } from "../../base/bytes.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { KernelAdmin } from "../../gen/handrail/admin/v1/admin_pb.ts";
import { ToolKernel } from "../../gen/handrail/tool/v1/kernel_pb.ts";
import { responseBytes } from "../../wire/protobuf.ts";
import type { AdminPort } from "./methods/admin-port.ts";
import { adminGate, adminService } from "./methods/admin-service.ts";
import { bearerToken } from "./methods/bearer.ts";
import { type KernelServiceHost, kernelService, RAW_METHODS } from "./methods/kernel-service.ts";
import { type OtherDoor, otherPaths } from "./other-door.ts";
import { EXCHANGE, serveRequest } from "./wire/exchange.ts";
import { Front } from "./wire/front.ts";
import type { AllowedHosts } from "./wire/guard.ts";
import type { Intake } from "./wire/intake.ts";
import { type ConnectLimits, DEFAULT_CONNECT_LIMITS, RPC_TIMEOUT_MAX_MS } from "./wire/limits.ts";
import { record } from "./wire/refusal.ts";
import { refuseUnknownFields } from "./wire/unknown-fields.ts";
import { watchUnread } from "./wire/unread.ts";

/** Bytes of one message of an RPC that is not a whole call: a chunk of an upload. */
const RPC_MESSAGE_BYTES_MAX = 4 * MIB;
/**
 * Bytes of a message that asks for tools, a receipt or content, or announces an upload: an id, a hash and two numbers.
 */
const RPC_QUESTION_BYTES_MAX = 4 * KIB;
/** Bytes of a question of the operator: the largest carries the patterns of a lease. */
const RPC_ADMIN_BYTES_MAX = 256 * KIB;

/** An address to serve on. */
export interface ConnectAddress {
  /** Makes a server listen; rejects with a KernelError that says why it cannot. */
  readonly listen: (server: Server) => Promise<void>;
  readonly allowedHosts: AllowedHosts;
}

/** How to serve. */
export interface ConnectOptions extends Omit<KernelServiceHost, "limits"> {
  readonly addresses: readonly ConnectAddress[];
  /** Without it there is no administration here. */
  readonly admin?: AdminPort;
  /** A protocol beside RPC, with paths of its own; the longest body that it takes. */
  readonly other?: { readonly door: OtherDoor; readonly bodyBytesMax: number };
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
  const { handlers } = routesOf(options, limits, shutDown.signal);
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  const intakes = new Map(handlers.map(({ requestPath, method }) => [requestPath, intakeOf(method)]));
  let heldBytes = 0;
  const hold = (changeBytes: number) => {
    heldBytes += changeBytes;
    return heldBytes <= limits.heldBytesMax;
  };
  const unary = {
    path: pathOf(ToolKernel.method.execute),
    host: {
      execute: async (bytes: Uint8Array, signal: AbortSignal, traceparent: string | undefined) =>
        responseBytes(await options.door.execute({ kind: "wire", bytes }, signal, { traceparent })),
      requestBytesMax: limits.requestBytesMax,
      stallMs: limits.stallMs,
      shutdownSignal: shutDown.signal,
      hold,
      recorder: options.door,
      onError: options.onError,
    },
  };
  const surroundings = { stallMs: limits.stallMs, hold, shutdownSignal: shutDown.signal };
  const other = options.other && otherPaths({ ...options.other, ...surroundings });
  const fronts: Front[] = [];
  const close = async () => {
    options.other?.door.close();
    const abort = () => shutDown.abort(new ConnectError("the kernel is shutting down", Code.Unavailable));
    await Promise.all(fronts.map((front) => front.close(abort)));
  };
  try {
    for (const { listen, allowedHosts } of options.addresses) {
      const host = {
        handlers: byPath,
        unary,
        intakes,
        other,
        recorder: options.door,
        allowedHosts,
        limits,
        hold,
        onError: options.onError,
      };
      const front = new Front({
        limits,
        nowMs: clock.monotonicMs,
        serve: (request, response, refusal) => serveRequest(host, { request, response }, refusal),
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

function intakeOf(method: DescMethod): Intake {
  if (RAW_METHODS.some((raw) => raw.name === method.name && raw.parent.typeName === method.parent.typeName))
    return { kind: "call" };
  if (method.methodKind === "client_streaming") {
    return { kind: "upload", firstBytesMax: RPC_QUESTION_BYTES_MAX, bytesMax: RPC_MESSAGE_BYTES_MAX };
  }
  const isAdmin = method.parent.typeName === KernelAdmin.typeName;
  return { kind: "message", bytesMax: isAdmin ? RPC_ADMIN_BYTES_MAX : RPC_QUESTION_BYTES_MAX };
}

function routesOf(options: ConnectOptions, limits: ConnectLimits, shutdownSignal: AbortSignal): ConnectRouter {
  const { door, admin } = options;
  const gate = (opens: (context: HandlerContext) => Promise<void> | void) => async (context: HandlerContext) => {
    takesCalls(context);
    watchUnread(context, door);
    try {
      await opens(context);
    } catch (error) {
      await record(door, error);
      throw error;
    }
  };
  const router = createConnectRouter({
    acceptCompression: [],
    maxTimeoutMs: RPC_TIMEOUT_MAX_MS,
    readMaxBytes: RPC_MESSAGE_BYTES_MAX,
    shutdownSignal,
    jsonOptions: { ignoreUnknownFields: false },
    interceptors: [refuseUnknownFields(door)],
  });
  router.service(ToolKernel, kernelService({ ...options, limits }), { requestGate: gate(namesSomebody) });
  if (admin !== undefined) {
    router.service(KernelAdmin, adminService(admin, options.onError), {
      requestGate: gate(adminGate(admin, options.onError)),
    });
  }
  return router;
}

/** Refuses a caller without a token before anything is read; a tool call carries its own. */
function namesSomebody({ method, requestHeader }: HandlerContext): void {
  if (intakeOf(method).kind !== "call") bearerToken(requestHeader);
}

/** Refuses a call when there are too many, or when the front door is closing, before anything of it is read. */
function takesCalls(context: HandlerContext): void {
  const refusal = context.values.get(EXCHANGE)?.refusal;
  if (refusal !== undefined) throw refusal;
}
