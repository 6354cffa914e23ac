/** `/metrics`: what Prometheus reads of a served kernel, and what nobody can make it say. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { openKernel } from "../../../src/server/compose.ts";
import { type MetricsAddress, serveMetrics } from "../../../src/server/metrics/serve-metrics.ts";
import { freshPlace } from "../../support/place.ts";

const LOCAL: MetricsAddress = { host: "127.0.0.1", port: 0, isLoopback: true };

async function served(address: MetricsAddress = LOCAL) {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  const kernel = await openKernel({ stateDirectory: place.state, configDirectory: place.config, environment: {} });
  onTestFinished(() => kernel.close());
  const server = await serveMetrics(kernel, address);
  onTestFinished(() => server.close());
  const { token } = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "u",
    agentId: "a",
  });
  const call = (tool: string, args: object) =>
    kernel.door.execute(
      { kind: "call", requestId: "r", sessionToken: token, tool, arguments: args },
      new AbortController().signal,
    );
  const get = (path = "/metrics", headers: Record<string, string> = {}, method = "GET") =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port: server.port, path, method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.on("error", reject).end();
    });
  return { place, call, get };
}

/** The value of a series. */
function seriesValue(text: string, series: string): number | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test("calls are counted and timed under Brio's names, and by outcome, layer and stage", async () => {
  const { call, get } = await served();
  await call("read_file", { path: "a.txt" });
  await call("read_file", { path: "a.txt" });
  await call("read_file", { path: "none.txt" });
  await call("read_file", { path: ".env" });
  const { status, text } = await get();
  expect(status).toBe(200);
  expect(seriesValue(text, 'tool_executions_total{tool="read_file"}')).toBe(3);
  expect(seriesValue(text, 'tool_errors_total{tool="read_file",error="file_not_found"}')).toBe(1);
  expect(seriesValue(text, 'tool_errors_total{tool="read_file",error="workspace_blocked_zone"}')).toBe(1);
  expect(seriesValue(text, 'tool_execution_duration_seconds_count{tool="read_file"}')).toBe(3);
  expect(seriesValue(text, 'handrail_calls_total{outcome="success",layer="",effect="read"}')).toBe(2);
  expect(seriesValue(text, 'handrail_calls_total{outcome="denied",layer="workspace",effect="read"}')).toBe(1);
  for (const [stage, count] of [
    ["read", 4],
    ["admit", 4],
    ["judge", 4],
    ["grant", 3],
    ["run", 3],
    ["answer", 4],
  ] as const)
    expect([stage, seriesValue(text, `handrail_stage_duration_seconds_count{stage="${stage}"}`)]).toEqual([
      stage,
      count,
    ]);
  expect(seriesValue(text, "handrail_ledger_writable")).toBe(1);
  expect(seriesValue(text, "handrail_approvals_pending")).toBe(0);
  expect(seriesValue(text, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
});

test("a caller cannot make series: unknown tools are one, however many names they have", async () => {
  const { call, get } = await served();
  const before = (await get()).text.split("\n").length;
  for (let index = 0; index < 200; index += 1) await call(`tool_${index}_${"x".repeat(index)}`, {});
  const { text } = await get();
  expect(seriesValue(text, 'tool_errors_total{tool="unknown",error="tool_spec_missing"}')).toBe(200);
  expect(text.split("\n").length - before).toBeLessThan(150);
  expect(text).not.toContain("tool_1_");
});

test("nothing of arguments, results, paths or secrets stands in it", async () => {
  const { place, call, get } = await served();
  const token = `ghp_${"Ab3dE6gH".repeat(5)}`;
  place.put("workspace/leak.txt", token);
  await call("read_file", { path: "leak.txt" });
  await call("read_file", { path: `none-${token}` });
  await call(token, { [token]: token });
  const { text } = await get();
  for (const word of [token, "leak.txt", place.workspace]) expect(text).not.toContain(word);
});

test.each([
  ["another name, as a page that rebinds one would send it", "/metrics", { host: "attacker.example" }, "GET", 421],
  ["no such page", "/", {}, "GET", 404],
  ["a method that changes something", "/metrics", {}, "POST", 405],
  ["the machine's own name", "/metrics?x=1", { host: "localhost:9464" }, "GET", 200],
] as const)("%s is answered with its status", async (_, path, headers, method, status) => {
  const { get } = await served();
  const answer = await get(path, headers, method);
  expect(answer.status).toBe(status);
  if (status !== 200) expect(answer.text).toBe("");
});

test("an address that other machines reach needs names, and then takes those alone", async () => {
  await expect(served({ host: "0.0.0.0", port: 0, isLoopback: false })).rejects.toThrow("--metrics-allow-remote");
  const { get } = await served({ host: "0.0.0.0", port: 0, isLoopback: false, remoteNames: ["Metrics.Example"] });
  expect((await get("/metrics", { host: "metrics.example:9464" })).status).toBe(200);
  expect((await get("/metrics", { host: "other.example" })).status).toBe(421);
});

/** Names of metrics in an expression of Prometheus. */
const NAMES = /\b(?:tool|handrail|process|nodejs)_[a-z_]+\b/g;

test("every metric that the dashboard, the alerts and the guide name exists", async () => {
  const { call, get } = await served();
  await call("read_file", { path: "a.txt" });
  await call("read_file", { path: "none" });
  const { text } = await get();
  const known = new Set(text.match(/^# TYPE (\S+)/gm)?.map((line) => line.slice("# TYPE ".length)));
  const dashboard = readFileSync("deploy/grafana/handrail.json", "utf8");
  const { panels } = JSON.parse(dashboard) as { panels: readonly { targets: readonly { expr: string }[] }[] };
  const rules = parse(readFileSync("deploy/prometheus/handrail.rules.yml", "utf8")) as {
    groups: readonly { rules: readonly { expr: string }[] }[];
  };
  const guide = readFileSync("docs/guide/observability.md", "utf8");
  const texts = [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...[...guide.matchAll(/^\| `([a-z_]+)(?:\{[^}]*\})?`/gm)].map(([, name = ""]) => name),
  ];
  expect(texts.length).toBeGreaterThan(30);
  for (const name of texts.flatMap((each) => each.match(NAMES) ?? []))
    expect([name, known.has(name.replace(/_(?:bucket|count|sum)$/, ""))]).toEqual([name, true]);
});
