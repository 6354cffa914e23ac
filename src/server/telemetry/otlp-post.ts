/**
 * Posts OTLP over HTTP to the operator's collector.
 *
 * Connections are made by the gate, as all of the kernel's own are. INVARIANTS: nothing goes anywhere but to that
 * server, and no redirection is followed. The answer is read to a limit, whatever the collector sends, and the whole
 * request has one time.
 */
import type { Agent } from "undici";
import { KIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { webAddress } from "../../names/web-address.ts";
import { type ConnectionRules, NoConnection, webConnections } from "../../sandbox/net/fetch/connections.ts";
import type { Sent } from "./export-queue.ts";

/** Bytes of a collector's answer. */
const ANSWER_BYTES_MAX = 64 * KIB;
/** Answers after which the same may be sent again (OTLP/HTTP, "Failures"). */
const TRANSIENT = new Set([429, 502, 503, 504]);

/** Where is posted to, and how. */
export interface OtlpTarget {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  /** Header values, read anew for each request; what cannot be read is said. */
  readonly headers: () => Promise<Readonly<Record<string, string>> | { readonly problem: string }>;
  readonly connections: Omit<ConnectionRules, "isOpened">;
}

/** Posts to one collector. */
export class OtlpPost {
  readonly #target: OtlpTarget;
  readonly #agent: Agent;

  constructor(target: OtlpTarget) {
    this.#target = target;
    this.#agent = webConnections({ ...target.connections, isOpened: (host, port) => isEndpoint(target, host, port) });
  }

  /** Posts `body` to `path`, such as `/v1/traces`. Never rejects. */
  async post(path: "/v1/traces" | "/v1/logs", body: Uint8Array, end: AbortSignal): Promise<Sent> {
    const { endpoint, timeoutMs, headers } = this.#target;
    const signal = AbortSignal.any([end, AbortSignal.timeout(timeoutMs)]);
    try {
      const more = await headers();
      if (isProblem(more)) return { kind: "later", why: more.problem };
      const answer = await this.#agent.request({
        origin: new URL(endpoint).origin,
        path: `${new URL(endpoint).pathname.replace(/\/$/, "")}${path}`,
        method: "POST",
        headers: { ...more, "content-type": "application/json" },
        body,
        signal,
      });
      const text = await bounded(answer.body);
      const { statusCode: status } = answer;
      if (status >= 200 && status < 300) return { kind: "taken", rejected: rejectedIn(text) };
      const why = `the collector answers ${status}`;
      return { kind: TRANSIENT.has(status) || status >= 500 ? "later" : "refused", why };
    } catch (error) {
      return { kind: "later", why: reasonOf(error, signal) };
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function isProblem(headers: object): headers is { readonly problem: string } {
  return "problem" in headers;
}

function isEndpoint({ endpoint }: OtlpTarget, host: string, port: number): boolean {
  const at = webAddress(endpoint);
  return !("problem" in at) && at.host.host === host && at.port === port;
}

/** The answer's text; `undefined` where it is longer than any collector needs, and the connection is given up. */
async function bounded(
  body: AsyncIterable<Uint8Array> & { readonly destroy: () => unknown },
): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) {
      body.destroy();
      return undefined;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** How many items the collector says that it did not take (`partial_success`). */
function rejectedIn(text: string | undefined): number {
  if (text === undefined || text.trim() === "") return 0;
  const partial = partialIn(text);
  const said = Number(partial["rejectedSpans"] ?? partial["rejectedLogRecords"] ?? 0);
  return Number.isSafeInteger(said) && said > 0 ? said : 0;
}

function partialIn(text: string): JsonObject {
  try {
    const said: unknown = JSON.parse(text);
    const partial = isJsonObject(said) ? said["partialSuccess"] : undefined;
    return isJsonObject(partial) ? partial : {};
  } catch {
    return {}; // a collector that says nothing readable has taken all, by its status
  }
}

/** Why no answer came, in words that hold nothing of the request. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "the collector did not answer in time";
  if (error instanceof NoConnection) return error.refusal.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
  return `the request to the collector failed (${code})`;
}
