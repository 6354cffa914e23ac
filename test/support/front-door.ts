/** An HTTP front door around a door of the test's own, on a Unix socket and a TCP port of this machine. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { KernelAdmin } from "../../src/gen/handrail/admin/v1/admin_pb.ts";
import { ToolKernel } from "../../src/gen/handrail/tool/v1/kernel_pb.ts";
import type { Submission } from "../../src/kernel/index.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { tcpAddress, unixAddress } from "../../src/server/doors/http-address.ts";
import { type ConnectLimits, type ConnectServer, serveConnect } from "../../src/transports/connect/index.ts";

type Options = Parameters<typeof serveConnect>[0];

/** A front door that is being served. */
export interface TestFront {
  readonly server: ConnectServer;
  readonly socketPath: string;
  readonly port: number;
  readonly errors: unknown[];
}

/** A success with `data`. */
export function successOf(requestId: string, data: JsonObject): CallResponse {
  const label = {
    trustLevel: "user",
    dataClass: "internal",
    source: { origin: "test", timestamp: "2026-01-01T00:00:00.000Z" },
  } as const;
  return { requestId, outcome: { kind: "success", data, label, truncated: false }, durationMs: 1, rules: ["test"] };
}

/** A door that answers every call at once; tests replace what they look at. */
export function quickDoor(more: Partial<Options["door"]> = {}): Options["door"] {
  return {
    execute: async () => successOf("r", {}),
    admit: async () => ({ kind: "refused", response: denialOf("session_invalid") }),
    tools: () => [],
    recordRefusal: async () => undefined,
    putContent: async () => successOf("r", {}),
    getContent: async () => ({ kind: "refused", response: denialOf("session_invalid") }),
    ...more,
  };
}

/** A refusal by authentication. */
export function denialOf(reason: string): CallResponse {
  const denial = {
    layer: "authenticate",
    reason,
    ruleId: "SESSION:test",
    message: "the session token is not valid",
  } as const;
  return { requestId: "r", outcome: { kind: "denied", denial }, durationMs: 1, rules: [denial.ruleId] };
}

/** Serves `door` for the running test. */
export async function serveFront(
  door: Options["door"],
  limits: Partial<ConnectLimits> = {},
  admin?: Options["admin"],
): Promise<TestFront> {
  const directory = mkdtempSync(join(tmpdir(), "handrail-front-"));
  const socketPath = join(directory, "http.sock");
  const errors: unknown[] = [];
  let port = 0;
  const server = await serveConnect({
    door,
    limits,
    ...(admin !== undefined && { admin }),
    newRequestId: () => "generated",
    onError: (error) => void errors.push(error),
    addresses: [
      unixAddress(socketPath),
      tcpAddress({ host: "127.0.0.1", port: 0 }, undefined, (got) => {
        port = got;
      }),
    ],
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { server, socketPath, port, errors };
}

/** Every way in which the library's own clients can speak to a front door. */
export const PROTOCOLS = [
  "connect/1.1",
  "connect/2",
  "connect-json/1.1",
  "grpc-web/1.1",
  "grpc-web/2",
  "grpc/2",
] as const;
/** One of them. */
export type Protocol = (typeof PROTOCOLS)[number];

/** A transport to the Unix socket, or to the TCP port. */
export function transportTo(
  front: Pick<TestFront, "socketPath" | "port">,
  protocol: Protocol,
  where: "unix" | "tcp" = "unix",
): Transport {
  const baseUrl = where === "tcp" ? `http://127.0.0.1:${front.port}` : "http://localhost";
  const [name, version] = protocol.split("/") as [string, "1.1" | "2"];
  const connection = where === "tcp" ? {} : { socketPath: front.socketPath };
  if (version === "1.1") {
    const options = { baseUrl, httpVersion: "1.1", nodeOptions: connection } as const;
    if (name === "grpc-web") return createGrpcWebTransport(options);
    return createConnectTransport({ ...options, useBinaryFormat: name === "connect" });
  }
  const sessionManager = new Http2SessionManager(
    baseUrl,
    {},
    { ...(where === "unix" && { createConnection: () => connectTo(front) }) },
  );
  onTestFinished(() => sessionManager.abort());
  const options = { baseUrl, httpVersion: "2", sessionManager } as const;
  if (name === "grpc-web") return createGrpcWebTransport(options);
  return name === "grpc" ? createGrpcTransport(options) : createConnectTransport({ ...options, useBinaryFormat: true });
}

/** Clients of both services. */
export function clientsOf(
  front: Pick<TestFront, "socketPath" | "port">,
  protocol: Protocol,
  where: "unix" | "tcp" = "unix",
) {
  const transport = transportTo(front, protocol, where);
  return { kernel: createClient(ToolKernel, transport), admin: createClient(KernelAdmin, transport) };
}

function connectTo({ socketPath }: Pick<TestFront, "socketPath">) {
  return connect(socketPath);
}

/** A front door that remembers what reached the kernel. */
export async function recording(limits: Parameters<typeof serveFront>[1] = {}) {
  const seen: Submission[] = [];
  const door = quickDoor({
    execute: async (submission) => {
      seen.push(submission);
      return successOf("r-1", {});
    },
  });
  return { front: await serveFront(door, limits), seen };
}
