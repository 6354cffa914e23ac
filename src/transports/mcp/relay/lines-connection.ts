/**
 * Opens a connection to a kernel that serves elsewhere, over which MCP's lines go both ways.
 *
 * It is one request of HTTP/1.1: its body are the client's lines, its answer's body the kernel's.
 */
import { type IncomingMessage, request } from "node:http";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { configInvalid, errorCode, usageError } from "../../../base/errors.ts";

/** Milliseconds in which a kernel has to answer that it takes lines. */
const OPEN_MS = 10_000;
/** Path of the kernel's front that takes lines. */
const LINES_PATH = "/mcp/lines";

/** Where a kernel serves. */
export type KernelAddress =
  | { readonly kind: "http"; readonly host: string; readonly port: number; readonly text: string }
  | { readonly kind: "unix"; readonly path: string; readonly text: string };

/** An open connection. */
export interface LinesConnection {
  readonly output: Writable;
  readonly input: Readable;
}

/** Reads `http://HOST:PORT` or `unix:PATH`. @throws KernelError USAGE */
export function parseKernelAddress(text: string): KernelAddress {
  const path = /^unix:(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "unix", path, text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || url.pathname !== "/" || url.search !== "" || url.username !== "")
    throw usageError(`\`${text}\` is no address of a kernel; write http://127.0.0.1:7465 or unix:/path/of/socket`);
  return { kind: "http", host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80), text };
}

/** Connects. @throws KernelError that says why the kernel takes no lines */
export async function openLines(address: KernelAddress, token: string): Promise<LinesConnection> {
  const where = address.kind === "unix" ? { socketPath: address.path } : { host: address.host, port: address.port };
  const asked = request({
    ...where,
    path: LINES_PATH,
    method: "POST",
    agent: false,
    headers: {
      host: address.kind === "unix" ? "localhost" : new URL(address.text).host,
      authorization: `Bearer ${token}`,
      "content-type": "application/jsonl",
    },
  });
  asked.flushHeaders();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const late = setTimeout(() => asked.destroy(new Error("it does not answer")), OPEN_MS);
    asked.once("error", (error) => {
      clearTimeout(late);
      reject(away(address, error));
    });
    asked.once("response", (answered) => {
      clearTimeout(late);
      resolve(answered);
    });
  });
  if (response.statusCode === 200) {
    asked.on("error", () => undefined); // the end of the answer says it
    return { output: asked, input: response };
  }
  const said = await text(response).catch(() => "");
  asked.destroy();
  throw refused(address, response.statusCode, said);
}

function away({ text: address }: KernelAddress, error: Error) {
  const why = errorCode(error) ?? error.message;
  return configInvalid(
    `no kernel answers at ${address} (${why}); it is served by \`handrail serve --http\`, under the user that the operator chose`,
    error,
  );
}

function refused({ text: address }: KernelAddress, status: number | undefined, body: string) {
  if (status === 401)
    return configInvalid(
      `the kernel at ${address} does not know this session token (any more); ask the operator for another, who makes it with \`handrail sessions create\``,
    );
  if (status === 404) return configInvalid(`what answers at ${address} serves no MCP; is it \`handrail serve\`?`);
  return configInvalid(`the kernel at ${address} takes no lines (${String(status)}): ${messageIn(body)}`);
}

function messageIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly message?: unknown } };
    return String(error?.message ?? "");
  } catch {
    return body.slice(0, MESSAGE_CHARACTERS_MAX);
  }
}

/** Characters of an answer that is none of ours. */
const MESSAGE_CHARACTERS_MAX = 200;
