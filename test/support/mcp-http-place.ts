/** The MCP door over HTTP in front of a kernel's door, on a port and a socket of the running test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { KernelDoor } from "../../src/kernel/index.ts";
import { tcpAddress, unixAddress } from "../../src/server/doors/http-address.ts";
import { type ConnectLimits, serveConnect } from "../../src/transports/connect/index.ts";
import { McpHttp } from "../../src/transports/mcp/http/mcp-http.ts";
import type { McpOptions } from "../../src/transports/mcp/protocol/options.ts";

/** Where the door listens. */
export interface McpPlace {
  readonly url: string;
  readonly port: number;
  readonly socketPath: string;
  readonly errors: unknown[];
  readonly close: () => Promise<void>;
}

type Offers = Pick<McpOptions, "features" | "asking" | "heldAfterMs">;

/** How the door is served. */
export interface McpPlaceOptions extends Partial<ConnectLimits> {
  readonly bodyBytesMax?: number;
  /** The token of every request, for clients that have none of their own. */
  readonly everybody?: string;
  readonly offers?: Offers | ((token: string) => Offers);
}

/** Serves `door` for the running test. */
export async function serveMcpPlace(
  door: KernelDoor,
  { bodyBytesMax = 1_000_000, everybody, offers = {}, ...limits }: McpPlaceOptions = {},
): Promise<McpPlace> {
  const directory = mkdtempSync(join(tmpdir(), "handrail-mcp-"));
  const socketPath = join(directory, "http.sock");
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  let last = 0;
  const newRequestId = () => `r${++last}`;
  const http = new McpHttp({
    door,
    newRequestId,
    optionsOf: (sessionToken) => ({
      door,
      sessionToken,
      version: "1.2.3",
      instructions: "Be careful.",
      newRequestId,
      onListed: () => undefined,
      onError,
      ...(typeof offers === "function" ? offers(sessionToken) : offers),
    }),
  });
  let port = 0;
  const server = await serveConnect({
    door,
    limits,
    newRequestId,
    onError,
    other: {
      door: {
        owns: (path) => http.owns(path),
        serve: (request) => http.serve({ ...request, token: everybody ?? request.token }),
        close: () => http.close(),
      },
      bodyBytesMax,
    },
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
  return { url: `http://127.0.0.1:${port}/mcp`, port, socketPath, errors, close: () => server.close() };
}

/** An answer over HTTP: its status and headers, and the messages that came. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The messages of the body, or of the events of a stream. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly text: string;
}

/** What every client sends. */
export const SENT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The headers that go with a modern request. */
export function modernHeaders(message: { readonly method: string; readonly params: object }): Record<string, string> {
  const { name, uri } = message.params as { readonly name?: string; readonly uri?: string };
  const named = name ?? uri;
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": message.method,
    ...(named !== undefined && { "mcp-name": named }),
  };
}

/** Posts a body and reads the whole answer. */
export async function post(
  { url }: Pick<McpPlace, "url">,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...SENT, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, messages: messagesIn(response, text), text };
}

function messagesIn(response: Response, text: string): readonly Readonly<Record<string, unknown>>[] {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream"))
    return text
      .split("\n")
      .filter((line) => /^data: \S/.test(line))
      .map((line) => JSON.parse(line.slice("data: ".length)) as Record<string, unknown>);
  if (!type.startsWith("application/json") || text === "") return [];
  const parsed = JSON.parse(text) as Record<string, unknown> | Record<string, unknown>[];
  return Array.isArray(parsed) ? parsed : [parsed];
}

/** The header of a session's token. */
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
