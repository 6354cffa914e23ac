/** Callers who want to make more series than a Prometheus bears: names of tools, and reasons of a tool of one's own. */
import { Counter, Registry } from "prom-client";
import { expect, test } from "vitest";
import { Refusal } from "../../../../src/model/outcome/failure.ts";
import type { ObservedCall } from "../../../../src/model/outcome/observed-call.ts";
import { CallMetrics } from "../../../../src/server/metrics/call-metrics.ts";
import { memoryKernel, testTool } from "../../../support/memory-kernel.ts";
import { parsePrometheus } from "../../../support/prometheus.ts";

const NAMES = 10_000;
const HUGE = "x".repeat(100_000);
const FORGED = 'read_file"} 1\nhandrail_forged 1\n';

test("ten thousand unknown names of tools, huge ones and forged lines are one series", async () => {
  const registry = new Registry();
  const metrics = new CallMetrics(registry);
  const naive = new Counter({ name: "naive", help: "by what was called", labelNames: ["tool"], registers: [] });
  const kernel = await memoryKernel({ observer: metrics.call });
  for (const name of [HUGE, FORGED, ...Array.from({ length: NAMES }, (_, index) => `tool_${index}`)]) {
    const { outcome } = await kernel.call(name, {}, { token: "ses_none.guess" });
    expect(outcome.kind).toBe("denied");
    naive.inc({ tool: name });
  }
  const { samples, value } = parsePrometheus(await registry.metrics());
  expect(samples.filter(({ name }) => name === "tool_executions_total")).toHaveLength(1);
  expect(value("tool_executions_total", { tool: "unknown" })).toBe(NAMES + 2);
  expect(value("handrail_forged")).toBeUndefined();
  expect(samples.length).toBeLessThan(400);
  // control: counted by the name that was called, each makes a series
  expect((await naive.get()).values).toHaveLength(NAMES + 2);
});

test("reasons that a tool makes up are bounded, and what is no plain word is `other`", async () => {
  const registry = new Registry();
  const metrics = new CallMetrics(registry);
  let count = 0;
  const refusing = testTool("probe", () => {
    count += 1;
    const reason = count === 1 ? 'a "quoted"\nreason' : `reason_${count}`;
    throw new Refusal({ layer: "call", reason, ruleId: "TEST", message: "no" });
  });
  const policies = `@id("test.permit")\n@message("m")\npermit (principal, action == Handrail::Action::"probe", resource);`;
  const kernel = await memoryKernel({ observer: metrics.call, tools: [refusing], policies });
  for (let index = 0; index < 400; index += 1) await kernel.call("probe", { path: "a.txt" });
  const { samples, value } = parsePrometheus(await registry.metrics());
  expect(samples.filter(({ name }) => name === "handrail_denials_total").length).toBeLessThanOrEqual(257);
  expect(value("handrail_denials_total", { reason: "other" })).toBeGreaterThan(100);
});

test("no label holds a path, a session or a request id", async () => {
  const registry = new Registry();
  const metrics = new CallMetrics(registry);
  const calls: ObservedCall[] = [];
  const kernel = await memoryKernel({
    observer: (call) => {
      calls.push(call);
      metrics.call(call);
    },
  });
  await kernel.call("read_file", { path: "private/canary.txt" }, { requestId: "canary-request" });
  const text = await registry.metrics();
  expect(calls).toHaveLength(1);
  for (const needle of ["canary", kernel.session.id, kernel.root, kernel.session.userId])
    expect(text).not.toContain(needle);
});
