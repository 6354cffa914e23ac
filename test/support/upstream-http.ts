/** Servers over Streamable HTTP on an internet of the test: the library's own, and one that does what a test says. */

import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { JsonObject } from "../../src/base/json.ts";
import type { UpstreamWish } from "../../src/server/upstream/upstream-desk.ts";
import { newCertificate } from "./certificate.ts";
import { Internet, PUBLIC_ADDRESS } from "./egress.ts";
import { freshPlace } from "./place.ts";
import { described, upstreamPlace, wishFor } from "./upstream-place.ts";

/** The name of the server that is added, and of another one. */
export const SERVER = "mcp.example.com";
export const OTHER = "other.example.net";
/** The value of the secret `TOKEN`, its placeholder, and a header that it stands in. */
export const TOKEN = "tok-7Hq2vX9wLm4Kd8Rs1Zt6";
const PLACEHOLDER = "tok-0000000000000000plac";

/** A place whose internet has both servers, over TLS, and a secret `TOKEN` that is for the first. */
export async function httpPlace(listeners: Readonly<Record<string, RequestListener>>, settings: JsonObject = {}) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(place.base, SERVER, OTHER);
  let number = 0;
  for (const [name, listener] of Object.entries(listeners)) {
    number += 1;
    await internet.https(name, 443, certificate, listener);
    const address = `93.184.217.${number}`;
    internet.names.set(name, [address]);
    internet.servers.set(`${address}:443`, internet.servers.get(`${PUBLIC_ADDRESS}:443`) ?? 0);
  }
  const bindings = [{ to: SERVER, in: "header Authorization" }];
  const all = {
    preset: "open",
    web: { certificate_authorities: certificate.certFile },
    secrets: { TOKEN: { from: { env: "REAL_TOKEN" }, placeholder: PLACEHOLDER, bindings } },
    ...settings,
  };
  const opened = await upstreamPlace(JSON.stringify(all), {
    place,
    network: internet.network,
    environment: { REAL_TOKEN: TOKEN },
  });
  return Object.assign(opened, { internet });
}

/** A wish for the server over HTTPS. */
export function urlWish(more: Partial<UpstreamWish> = {}): UpstreamWish & { by: string } {
  return wishFor([], { url: `https://${SERVER}/mcp`, ...more });
}

/** What a request brought. */
export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly message: JsonObject;
}

/** A server of the library, with sessions, whose tool `say` repeats its text; `heard` has what it got. */
export function libraryServer(): { readonly listener: RequestListener; readonly heard: Heard[] } {
  const heard: Heard[] = [];
  let count = 0;
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async () => {
    const server = new McpServer({ name: "library", version: "1" });
    server.registerTool(
      "say",
      { description: "Says what it was told.", inputSchema: z.object({ text: z.string().max(1000) }) },
      ({ text }) => ({ content: [{ type: "text", text: `said: ${text}` }] }),
    );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${++count}`,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport);
    return transport;
  };
  const listener: RequestListener = async (request, response) => {
    const body = await bodyOf(request);
    heard.push(heardOf(request, body));
    const id = String(request.headers["mcp-session-id"] ?? "");
    const transport = sessions.get(id) ?? (await open());
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const answer = await transport.handleRequest(
      new Request(`https://${SERVER}${request.url}`, {
        method: request.method ?? "GET",
        headers,
        ...(body !== "" && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  };
  return { listener, heard };
}

/** How the double answers a question of that method; `undefined` leaves it to the double. */
export type Answering = (heard: Heard, response: ServerResponse) => boolean | Promise<boolean>;

/** A server that offers `say` and answers plainly, but where `answering` does it. */
export function doubleServer(answering: Answering): { readonly listener: RequestListener; readonly heard: Heard[] } {
  const heard: Heard[] = [];
  const listener: RequestListener = async (request, response) => {
    response.on("error", () => undefined);
    const one = heardOf(request, await bodyOf(request));
    heard.push(one);
    if (await answering(one, response)) return;
    const { id, method, params } = one.message as { id?: number; method?: string; params?: JsonObject };
    if (one.method !== "POST") return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, JsonObject> = {
      initialize: {
        protocolVersion: params?.["protocolVersion"] ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "double", version: "1" },
      },
      "tools/list": { tools: [described("say")] },
      "tools/call": { content: [{ type: "text", text: "plain" }] },
    };
    const result = results[method ?? ""];
    sayJson(response, { id, ...(result ? { result } : { error: { code: -32601, message: "none" } }) });
  };
  return { listener, heard };
}

/** Answers with one message, as JSON. */
export function sayJson(response: ServerResponse, message: JsonObject, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

/** The text answer of a tool. */
export function saidText(id: unknown, text: string): JsonObject {
  return { id: id as number, result: { content: [{ type: "text", text }] } };
}

/** Writes `pieces` for as long as somebody reads. */
export async function pour(response: ServerResponse, piece: string): Promise<void> {
  while (!response.destroyed && response.writable) {
    if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")]);
    else await new Promise(setImmediate);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function heardOf({ method = "", url = "", headers }: IncomingMessage, body: string): Heard {
  return { method, url, headers, message: body === "" ? {} : (JSON.parse(body) as JsonObject) };
}
