/** Traces of calls and the security audit, as a collector gets them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { CALL_STAGES } from "../../../src/model/outcome/observed-call.ts";
import { startCollector } from "../../support/collector.ts";
import { observedPlace, otlpSettings } from "../../support/observed-place.ts";
import { freshPlace } from "../../support/place.ts";
import { SOON } from "../../support/waiting.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test("a call is one span with a span for each stage below it, in the caller's trace", async () => {
  const collector = await startCollector();
  const { call, sessionId } = await observedPlace(otlpSettings(collector.url));
  await call("read_file", { path: "a.txt" }, { traceparent: `00-${TRACE}-${PARENT}-01` });
  await vi.waitFor(() => expect(collector.spans()).toHaveLength(CALL_STAGES.length + 1), SOON);
  const spans = collector.spans();
  const root = spans.find(({ name }) => name === "tool read_file");
  expect(root).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    attributes: {
      "handrail.tool": "read_file",
      "handrail.outcome": "success",
      "handrail.effect": "read",
      "handrail.session": sessionId,
      "handrail.role": "dev",
      "handrail.rules": ["dev.read-files"],
    },
  });
  const stages = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  expect(stages.map(({ name }) => name)).toEqual(CALL_STAGES);
  for (const { traceId, startTimeUnixNano, endTimeUnixNano } of stages) {
    expect(traceId).toBe(TRACE);
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  }
});

test("a traceparent that says nothing readable begins a new trace and is counted, and the call goes on", async () => {
  const collector = await startCollector();
  const { call, kernel } = await observedPlace(otlpSettings(collector.url));
  for (const traceparent of [`00-${TRACE}-${PARENT}`, `ff-${TRACE}-${PARENT}-01`, 7, { a: 1 }, "x".repeat(100_000)])
    expect((await call("read_file", { path: "a.txt" }, { traceparent })).outcome.kind).toBe("success");
  await vi.waitFor(() => expect(rootsOf(collector.spans())).toHaveLength(5), SOON);
  const roots = rootsOf(collector.spans());
  expect(roots.every(({ traceId, parentSpanId }) => traceId !== TRACE && parentSpanId === undefined)).toBe(true);
  expect(kernel.observation.telemetry()?.invalidTraceparents).toBe(5);
});

test("a trace that its caller does not sample is not exported", async () => {
  const collector = await startCollector();
  const { call } = await observedPlace(otlpSettings(collector.url));
  await call("read_file", { path: "a.txt" }, { traceparent: `00-${TRACE}-${PARENT}-00` });
  await call("read_file", { path: "a.txt" }, { traceparent: `00-${TRACE}-${PARENT}-01` });
  await vi.waitFor(() => expect(rootsOf(collector.spans())).toHaveLength(1), SOON);
});

test("a refusal and a failure are spans with their layer, reason and code", async () => {
  const collector = await startCollector();
  const { call } = await observedPlace(otlpSettings(collector.url));
  await call("read_file", { path: ".env" });
  await call("read_file", { path: "none.txt" });
  await vi.waitFor(() => expect(rootsOf(collector.spans())).toHaveLength(2), SOON);
  const [refused, failed] = rootsOf(collector.spans());
  expect(refused?.attributes).toMatchObject({
    "handrail.outcome": "denied",
    "handrail.denial.layer": "workspace",
    "handrail.denial.reason": "workspace_blocked_zone",
  });
  expect(failed?.attributes).toMatchObject({ "handrail.outcome": "error", "error.type": "FILE_NOT_FOUND" });
});

test("violations and refusals are logs with OCSF as their body", async () => {
  const collector = await startCollector();
  const { call, sessionId } = await observedPlace(otlpSettings(collector.url));
  await call("read_file", { path: ".env" }, { requestId: "looked" });
  const finding = await vi.waitFor(() => {
    const found = collector.logs().find(({ body }) => body["class_uid"] === 2004);
    if (found === undefined) throw new Error("no finding yet");
    return found;
  }, SOON);
  expect(finding).toMatchObject({
    severityText: "warning",
    eventName: "handrail.workspace_violation",
    body: {
      class_name: "Detection Finding",
      category_uid: 2,
      type_uid: 200401,
      severity_id: 3,
      actor: { user: { name: "tester/agent" }, session: { uid: sessionId }, app_name: "agent" },
      finding_info: { title: "workspace_violation", types: ["workspace_blocked_zone"] },
      resources: [{ type: "file", name: ".env" }],
    },
  });
  const denied = collector.logs().find(({ body }) => body["message"] === "tool_execution_denied");
  expect(denied?.body).toMatchObject({
    class_uid: 6003,
    category_uid: 6,
    status_id: 2,
    api: { operation: "read_file", request: { uid: "looked" } },
    status_code: "workspace_blocked_zone",
  });
  expect(typeof finding.body["time"]).toBe("number");
});

test("headers come from a file or a variable, and nothing is sent while one cannot be read", async () => {
  const collector = await startCollector();
  const team = join(freshPlace().home, "team");
  const headers = `    headers:\n      Authorization: { env: COLLECTOR_TOKEN }\n      X-Team: { file: ${team} }\n`;
  const environment = { COLLECTOR_TOKEN: "Bearer of-the-test" };
  const { call, kernel } = await observedPlace(otlpSettings(collector.url, headers), environment);
  await call("read_file", { path: "a.txt" });
  await vi.waitFor(() => expect(kernel.observation.telemetry()?.traces?.problem).toContain("X-Team"), SOON);
  expect(collector.requests).toEqual([]);
  writeFileSync(team, "blue\n", { mode: 0o600 });
  await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(0), SOON);
  expect(collector.requests[0]?.headers).toMatchObject({ authorization: "Bearer of-the-test", "x-team": "blue" });
});

function rootsOf(spans: ReturnType<Awaited<ReturnType<typeof startCollector>>["spans"]>) {
  return spans.filter(({ name }) => name.startsWith("tool "));
}
