/** What Prometheus is told of a kernel: Brio's names, what calls came to, and how the state is. */
import { expect, test } from "vitest";
import { CALL_STAGES } from "../../../src/model/outcome/observed-call.ts";
import { METRICS } from "../../../src/server/metrics/catalog.ts";
import { openMetrics } from "../../../src/server/metrics/metrics.ts";
import { observedPlace } from "../../support/observed-place.ts";
import { parsePrometheus } from "../../support/prometheus.ts";

async function measured(settings = "") {
  const opened = await observedPlace(settings);
  const metrics = openMetrics(opened.kernel);
  return { ...opened, scrape: async () => parsePrometheus(await metrics.text()), metrics };
}

test("Brio's metrics count calls, refusals and failures by tool, under its very names", async () => {
  const { call, scrape } = await measured();
  await call("read_file", { path: "a.txt" });
  await call("read_file", { path: "none.txt" });
  await call("read_file", { path: ".env" });
  await call("write_file", { path: "b.txt", content: "x" });
  await call("read_file", { path: 7 });
  const { value, types } = await scrape();
  expect(value("tool_executions_total", { tool: "read_file" })).toBe(4);
  expect(value("tool_executions_total", { tool: "write_file" })).toBe(1);
  expect(value("tool_errors_total", { tool: "read_file", error: "file_not_found" })).toBe(1);
  expect(value("tool_errors_total", { tool: "read_file", error: "workspace_blocked_zone" })).toBe(1);
  expect(value("tool_errors_total", { tool: "read_file", error: "tool_input_invalid" })).toBe(1);
  expect(value("tool_execution_duration_seconds_count", { tool: "read_file" })).toBe(2);
  expect(types.get("tool_executions_total")).toBe("counter");
  expect(types.get("tool_execution_duration_seconds")).toBe("histogram");
});

test("calls are counted by outcome and layer, and each stage has its time", async () => {
  const { call, scrape } = await measured();
  await call("read_file", { path: "a.txt" });
  await call("read_file", { path: ".env" });
  const { value } = await scrape();
  expect(value("handrail_calls_total", { outcome: "success", layer: "" })).toBe(1);
  expect(value("handrail_calls_total", { outcome: "denied", layer: "workspace" })).toBe(1);
  expect(value("handrail_denials_total", { layer: "workspace", reason: "workspace_blocked_zone" })).toBe(1);
  for (const stage of CALL_STAGES)
    expect(value("handrail_call_stage_duration_seconds_count", { stage })).toBe(
      ["decode", "gate", "authenticate", "understand", "analyse", "scope", "record"].includes(stage) ? 2 : 1,
    );
  expect(value("handrail_security_events_total", { severity: "warning" })).toBeGreaterThan(0);
  expect(value("handrail_ledger_record_duration_seconds_count", { durability: "durable" })).toBeGreaterThan(0);
});

test("the state is read with each scrape: sessions, freezes, branches, stores, the ledger", async () => {
  const { kernel, call, scrape, sessionId } = await measured("limits:\n  per_session: { calls: 10 }\n");
  await call("read_file", { path: "a.txt" });
  const target = await kernel.freezes.targetOf(sessionId);
  await kernel.freezes.kill(target, { by: "tester", reason: "for a test" });
  const { value } = await scrape();
  expect(value("handrail_sessions_active")).toBe(1);
  expect(value("handrail_frozen_principals", { scope: "workspace", cause: "operator" })).toBe(1);
  expect(value("handrail_alert_mode")).toBe(0);
  expect(value("handrail_branches_kept")).toBe(0);
  expect(value("handrail_approvals_pending")).toBe(0);
  expect(value("handrail_ledger_writable")).toBe(1);
  expect(value("handrail_budget_used_ratio", { kind: "session", member: "calls" })).toBeCloseTo(0.1);
  expect(value("handrail_store_bytes", { store: "ledger" })).toBeGreaterThan(0);
  expect(value("handrail_build_info")).toBe(1);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(0);
});

test("every metric of the catalog is there before anything has happened, with its kind and meaning", async () => {
  const { metrics } = await measured();
  const text = await metrics.text();
  const { types } = parsePrometheus(text);
  for (const { name, kind, help } of Object.values(METRICS)) {
    expect([name, types.get(name)]).toEqual([name, kind]);
    expect(text).toContain(`# HELP ${name} ${help.replaceAll("\\", "\\\\")}`);
  }
});

test("a part of the state that cannot be read is left out and counted, and the rest is shown", async () => {
  const opened = await observedPlace();
  const broken = {
    ...opened.kernel,
    branches: {
      list: async () => {
        throw new Error("the disk is gone");
      },
    },
  } as unknown as typeof opened.kernel;
  const metrics = openMetrics(broken);
  const { value } = parsePrometheus(await metrics.text());
  expect(value("handrail_metrics_problems_total", { part: "branches" })).toBe(1);
  expect(value("handrail_sessions_active")).toBe(1);
});

test("closed metrics hear of no more calls", async () => {
  const { call, metrics, kernel } = await measured();
  metrics.close();
  await call("read_file", { path: "a.txt" });
  expect(kernel.observation.observerFailures()).toBe(0);
  expect(parsePrometheus(await metrics.text()).value("tool_executions_total")).toBeUndefined();
});
