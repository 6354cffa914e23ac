/** Whole processes that are observed: metrics they serve, traces that join their callers', lines that they log. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { expect, test, vi } from "vitest";
import { ToolRequestSchema } from "../../../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { startCollector } from "../../../../support/collector.ts";
import { collect, dataIn, handrail, linesOf, startHandrail, until } from "../../../../support/command-line.ts";
import { clientsOf } from "../../../../support/front-door.ts";
import { otlpSettings } from "../../../../support/observed-place.ts";
import { freshPlace } from "../../../../support/place.ts";
import { parsePrometheus } from "../../../../support/prometheus.ts";
import { connectRpc } from "../../../../support/rpc-client.ts";
import { SOON } from "../../../../support/waiting.ts";

const traceOf = (digit: string) => digit.repeat(32);
const PARENT = "00f067aa0ba902b7";
const parentOf = (digit: string) => `00-${traceOf(digit)}-${PARENT}-01`;

async function metricsAt(url: string) {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return parsePrometheus(await answer.text());
}

const metricsUrl = (stderr: string) => /metrics at (http:\S+)/.exec(stderr)?.[1] ?? "";

test("handrail serve: Prometheus scrapes it, calls of Connect join their caller's trace", async () => {
  const collector = await startCollector();
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  place.put("config/handrail.yaml", `metrics: { listen: 127.0.0.1:0 }\n${otlpSettings(collector.url)}`);
  const server = startHandrail(place, ["serve", "--http", "127.0.0.1:0"]);
  const output = collect(server);
  await until(() => output().stderr.includes("listening on"));
  const port = Number(/gRPC-Web at http:\/\/127\.0\.0\.1:(\d+)/.exec(output().stderr)?.[1]);
  const { stdout } = await handrail(place, ["sessions", "create", "--workspace", place.workspace, "--json"]);
  const { token } = dataIn<{ token: string }>(stdout);
  for (const [digit, protocol] of [
    ["1", "connect/1.1"],
    ["2", "connect-json/1.1"],
    ["3", "grpc-web/1.1"],
    ["4", "grpc/2"],
  ] as const) {
    const { kernel } = clientsOf({ socketPath: "", port }, protocol, "tcp");
    const request = create(ToolRequestSchema, {
      requestId: `r-${digit}`,
      sessionToken: token,
      tool: { case: "fileRead", value: { path: "a.txt" } },
    });
    const { result } = await kernel.execute(request, { headers: { traceparent: parentOf(digit) } });
    expect([protocol, result.case]).toEqual([protocol, "success"]);
  }
  await vi.waitFor(() => expect(rootTraces(collector)).toEqual(["1", "2", "3", "4"].map(traceOf)), SOON);
  const { value } = await metricsAt(metricsUrl(output().stderr));
  expect(value("tool_executions_total", { tool: "read_file" })).toBe(4);
  expect(value("handrail_telemetry_exported_total", { signal: "traces" })).toBe(4);
  const ended = once(server, "close");
  server.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

function rootTraces(collector: Awaited<ReturnType<typeof startCollector>>): readonly string[] {
  return collector
    .spans()
    .filter(({ parentSpanId }) => parentSpanId === PARENT)
    .map(({ traceId }) => traceId)
    .sort();
}

test.each(["2025-11-25", "2026-07-28"])(
  "handrail mcp (%s) joins `_meta.traceparent`, and serves its metrics",
  async (era) => {
    const collector = await startCollector();
    const place = freshPlace();
    place.put("workspace/a.txt", "one\n");
    place.put("config/handrail.yaml", otlpSettings(collector.url));
    const client = await connectRpc(place, ["--metrics", "127.0.0.1:0"], "2025-11-25");
    const modern = {
      "io.modelcontextprotocol/protocolVersion": era,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    };
    const call = (traceparent: unknown) =>
      client.request("tools/call", {
        name: "read_file",
        arguments: { path: "a.txt" },
        _meta: { traceparent, ...(era === "2026-07-28" && modern) },
      });
    expect(JSON.stringify(await call(parentOf("5")))).toContain("one");
    expect(JSON.stringify(await call("nonsense"))).toContain("one");
    await vi.waitFor(() => expect(rootTraces(collector)).toEqual([traceOf("5")]), SOON);
    const { value } = await metricsAt(metricsUrl(client.stderr()));
    expect(value("tool_executions_total", { tool: "read_file" })).toBe(2);
    expect(value("handrail_traceparent_invalid_total")).toBe(1);
    client.process.stdin.end();
    await client.ended;
  },
);

test("HANDRAIL_LOG writes JSON lines in place of those for people, and a bad one is a clear error", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  const args = ["call", "read_file", "path=a.txt", "--workspace", place.workspace];
  const logged = await handrail(place, args, { environment: { HANDRAIL_LOG: "warn,calls=debug,kernel=info" } });
  expect(logged.code).toBe(0);
  const lines = linesOf(logged.stderr).filter((line) => line.startsWith("{"));
  const told = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(told).toContainEqual(expect.objectContaining({ area: "calls", tool: "read_file", outcome: "success" }));
  expect(told.map(({ msg }) => msg)).toEqual(expect.arrayContaining(["kernel_started", "call answered"]));
  const plain = await handrail(place, args);
  expect(plain.stderr).not.toContain("{");
  for (const bad of ["loud", "kernel=loud", "nowhere=info"]) {
    const refused = await handrail(place, args, { environment: { HANDRAIL_LOG: bad } });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/HANDRAIL_LOG names the (?:level|area)/);
  }
});

test("a log file has the lines, and standard error stays as it is for people", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  const file = `${place.base}/handrail.log`;
  place.put("config/handrail.yaml", `log: { file: ${file}, levels: debug }\n`);
  const { code, stderr } = await handrail(place, ["call", "read_file", "path=.env", "--workspace", place.workspace]);
  expect(code).not.toBe(0);
  expect(stderr).not.toContain('"area"');
  const told = linesOf(readFileSync(file, "utf8")).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(told).toContainEqual(expect.objectContaining({ area: "security", event: "workspace_violation" }));
  expect(told).toContainEqual(expect.objectContaining({ area: "calls", outcome: "denied", layer: "workspace" }));
});

test("what all kernels of a state directory did is counted without a server, and the audit is OCSF where asked for", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  const call = (path: string) => handrail(place, ["call", "read_file", `path=${path}`, "--workspace", place.workspace]);
  await call("a.txt");
  await call("a.txt");
  await call("none.txt");
  await call(".env");
  await handrail(place, ["call", "no_such_tool", "--workspace", place.workspace]);
  const { stdout } = await handrail(place, ["stats", "metrics"]);
  const { value, samples } = parsePrometheus(stdout);
  expect(value("tool_executions_total", { tool: "read_file" })).toBe(4);
  expect(value("tool_errors_total", { tool: "read_file", error: "file_not_found" })).toBe(1);
  expect(value("handrail_denials_total", { layer: "workspace", reason: "workspace_blocked_zone" })).toBe(1);
  expect(samples.some(({ labels }) => Object.values(labels).includes("no_such_tool"))).toBe(false);
  const json = await handrail(place, ["stats", "metrics", "--json"]);
  expect(JSON.stringify(JSON.parse(json.stdout))).toContain("tool_executions_total");
  const audit = await handrail(place, ["audit", "tail", "--format", "ocsf"]);
  const events = linesOf(audit.stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events).toContainEqual(expect.objectContaining({ class_uid: 2004, severity_id: 3 }));
  expect(events.every((event) => typeof event["type_uid"] === "number" && typeof event["time"] === "number")).toBe(
    true,
  );
});

test("an address of metrics that other machines reach is refused, and the process ends", async () => {
  const place = freshPlace();
  const { code, stderr } = await handrail(place, ["serve", "--metrics", "0.0.0.0:0"]);
  expect(code).toBe(64);
  expect(stderr).toContain("--metrics-allow-remote");
  place.put("config/handrail.yaml", "telemetry: { otlp: { endpoint: http://collector.example:4318 } }\n");
  const plain = await handrail(place, ["serve"]);
  expect([plain.code, plain.stderr.includes("allow_plain_http")]).toEqual([1, true]);
});
