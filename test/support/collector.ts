/** A collector of telemetry on this machine, which takes OTLP as JSON and can misbehave as a test wants. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** A span as it came. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A log record as it came. */
export interface CollectedLog {
  readonly severityText: string;
  readonly eventName?: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How a collector answers: as it should, or one of the ways in which it should not. */
export type Behaviour = "takes" | "500" | "400" | "hangs" | "floods" | "redirects" | "rejects one";

/** A collector that listens. */
export interface Collector {
  readonly url: string;
  /** Requests so far, whatever was answered. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[];
  readonly behave: (behaviour: Behaviour) => void;
  readonly spans: () => readonly CollectedSpan[];
  readonly logs: () => readonly CollectedLog[];
  /** Bytes that it has written of an endless answer. */
  readonly flooded: () => number;
}

/** Starts a collector for the running test. */
export async function startCollector(): Promise<Collector> {
  const requests: Collector["requests"] = [];
  let behaviour: Behaviour = "takes";
  let flooded = 0;
  const answer = (response: ServerResponse) => {
    if (behaviour === "hangs") return;
    response.setHeader("content-type", "application/json");
    if (behaviour === "floods") {
      const piece = Buffer.alloc(65_536, " ");
      const more = () => {
        for (let round = 0; round < 1000 && !response.destroyed; round += 1) {
          flooded += piece.length;
          if (!response.write(piece)) return void response.once("drain", more);
        }
      };
      more();
      return;
    }
    if (behaviour === "redirects") response.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" });
    else if (behaviour === "500" || behaviour === "400") response.writeHead(Number(behaviour));
    response.end(behaviour === "rejects one" ? '{"partialSuccess":{"rejectedSpans":"1"}}' : "{}");
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      requests.push({
        path: request.url ?? "",
        headers: request.headers,
        text: Buffer.concat(pieces).toString("utf8"),
      });
      answer(response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    behave: (next) => {
      behaviour = next;
    },
    spans: () => bodiesAt(requests, "/v1/traces").flatMap(spansIn),
    logs: () => bodiesAt(requests, "/v1/logs").flatMap(logsIn),
    flooded: () => flooded,
  };
}

function bodiesAt(requests: Collector["requests"], path: string): readonly unknown[] {
  return requests.filter((request) => request.path === path).map(({ text }) => JSON.parse(text) as unknown);
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly OtlpValue[] };
  readonly kvlistValue?: { readonly values?: readonly OtlpMember[] };
}
interface OtlpMember {
  readonly key: string;
  readonly value: OtlpValue;
}

function plain(value: OtlpValue): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plain);
  if (value.kvlistValue !== undefined) return membersOf(value.kvlistValue.values ?? []);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}

function membersOf(members: readonly OtlpMember[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(members.map(({ key, value }) => [key, plain(value)]));
}

type Scoped<Item> = Readonly<Record<string, readonly Item[]>>;

function spansIn(body: unknown): readonly CollectedSpan[] {
  type Written = Omit<CollectedSpan, "attributes"> & { readonly attributes: readonly OtlpMember[] };
  const { resourceSpans } = body as { resourceSpans: { scopeSpans: Scoped<Written>[] }[] };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope["spans"] ?? []))
    .map((span) => ({ ...span, attributes: membersOf(span.attributes) }));
}

function logsIn(body: unknown): readonly CollectedLog[] {
  type Written = Omit<CollectedLog, "body"> & { readonly body: OtlpValue };
  const { resourceLogs } = body as { resourceLogs: { scopeLogs: Scoped<Written>[] }[] };
  return resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs.flatMap((scope) => scope["logRecords"] ?? []))
    .map((record) => ({ ...record, body: plain(record.body) as CollectedLog["body"] }));
}
