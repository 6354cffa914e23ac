/**
 * Canaries in arguments, results, errors, names, ids and the environment never stand in metrics, traces, exported
 * security events or log lines. The controls show that they are found where nothing is redacted.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { KernelError } from "../../../../src/base/errors.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { LedgerEvent } from "../../../../src/model/outcome/event.ts";
import { createRedactor, type Redactor } from "../../../../src/redact/redact.ts";
import { NO_RULES } from "../../../../src/redact/rule-set.ts";
import { openMetrics } from "../../../../src/server/metrics/metrics.ts";
import { StructuredLog } from "../../../../src/server/telemetry/log.ts";
import { parseLogLevels } from "../../../../src/server/telemetry/log-levels.ts";
import { redactedValue } from "../../../../src/server/telemetry/redacted-value.ts";
import { startCollector } from "../../../support/collector.ts";
import { observedPlace, otlpSettings } from "../../../support/observed-place.ts";
import { freshPlace } from "../../../support/place.ts";
import { SOON } from "../../../support/waiting.ts";

/** Put together here, so that this file holds no secret. */
const AWS = ["AKIA", "Z7QK3LMN", "2PXWRTV4"].join("");
const CODE_HOST = ["ghp", "_", "x7Kq2LmN9pRs4TvW8yZa3BcD6eFgH1jK5MnP"].join("");
const VALUE = ["v4Xc", "k2Rw9LqT7m", "Wz81"].join("");
const NEEDLES = [AWS, CODE_HOST, VALUE];

const found = (text: string) => NEEDLES.filter((needle) => text.includes(needle));

/** Calls that meet the canaries in every way; each is answered, whatever it comes to. */
async function tour(call: (tool: string, args: JsonObject, requestId: string) => Promise<unknown>): Promise<void> {
  const args: readonly (readonly [string, JsonObject])[] = [
    ["read_file", { path: "leak.txt" }],
    ["read_file", { path: `missing ${AWS}` }],
    ["read_file", { path: `secrets/${AWS}` }],
    ["read_file", { path: `../outside/${CODE_HOST}` }],
    ["read_file", { path: "leak.txt", [AWS]: CODE_HOST }],
    ["write_file", { path: `named ${AWS}.txt`, content: `token ${CODE_HOST}` }],
    ["search_file", { path: ".", regex: `${AWS}(` }],
    ["edit_file", { path: "leak.txt", edits: [{ operation: "replace", spec: VALUE, content: "x" }] }],
    [`tool.${AWS}`, { password: VALUE }],
    [`tool_${CODE_HOST}`.toLowerCase(), {}],
  ];
  for (const [tool, one] of args) await call(tool, one, `request ${AWS}`);
}

test("metrics, traces, security events and logs hold no canary", async () => {
  const collector = await startCollector();
  const logs = freshPlace().base;
  const log = `log: { file: ${join(logs, "handrail.log")}, levels: debug }\n`;
  const { kernel, call, place } = await observedPlace(log + otlpSettings(collector.url), { CANARY_PASSWORD: VALUE });
  writeFileSync(join(place.workspace, "leak.txt"), `aws_access_key_id = ${AWS}\ntoken: ${CODE_HOST}\nplain ${VALUE}\n`);
  const metrics = openMetrics(kernel);
  await tour((tool, args, requestId) => call(tool, args, { requestId }));
  await call("read_file", { path: "leak.txt" }, { traceparent: `00-${AWS}-${CODE_HOST}-01` });
  const scraped = await metrics.text();
  await vi.waitFor(
    () => expect(collector.spans().filter(({ name }) => name.startsWith("tool "))).toHaveLength(11),
    SOON,
  );
  await kernel.close();
  const written = readFileSync(join(logs, "handrail.log"), "utf8");
  const sent = collector.requests.map(({ text }) => text).join("\n");
  expect({ metrics: found(scraped), sent: found(sent), written: found(written) }).toEqual({
    metrics: [],
    sent: [],
    written: [],
  });
  // what was looked through is not empty, and says that something was hidden
  expect(collector.logs().length).toBeGreaterThan(5);
  expect(written.split("\n").length).toBeGreaterThan(20);
  expect(sent).toContain("[REDACTED:");
  expect(written).toContain("[REDACTED:");
  expect(existsSync(join(place.workspace, "leak.txt"))).toBe(true);
});

/** What a log writes of a failure and an event that hold canaries. */
async function logged(redactor: () => Redactor | Promise<Redactor>): Promise<{ text: string; dropped: number }> {
  const lines: string[] = [];
  const log = new StructuredLog({
    settings: { max_mb: 1, keep: 1 },
    levels: parseLogLevels("debug", "test"),
    instanceId: "ins_test",
    redactor,
    standardError: (line) => void lines.push(line),
  });
  log.failed(new Error(`the store said ${CODE_HOST}`));
  log.failed(new KernelError("STORE_UNAVAILABLE", `cannot open ${AWS}`));
  log.warned(`the operator should know ${AWS}`);
  const event: LedgerEvent = {
    type: "workspace_violation",
    sessionId: "ses_test",
    actor: "user/agent",
    requestId: "r",
    timeMs: 0,
    payload: { violation_type: "x", target_path: `a/${CODE_HOST}`, command_args: [AWS], password: `${VALUE}` },
  };
  log.recorded({ event, sequence: 1, durability: "durable", tookMs: 1, isRecorded: true });
  await log.close();
  return { text: lines.join(""), dropped: log.dropped };
}

test("lines are redacted also where nobody has redacted before, and each stays one JSON object", async () => {
  const redactor = createRedactor({ known: [{ rule: "environment", value: VALUE }] });
  for (const made of [() => redactor, async () => redactor]) {
    const { text, dropped } = await logged(made);
    expect([found(text), dropped]).toEqual([[], 0]);
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ instance: "ins_test" });
  }
});

test("control: without rules the lines hold the canaries, so that they would be seen", async () => {
  const { text } = await logged(() => createRedactor({ rules: NO_RULES }));
  expect(found(text)).toEqual(NEEDLES);
});

test("while the redactor cannot be made no line is written, and each is counted", async () => {
  for (const broken of [
    () => {
      throw new KernelError("CONFIG_INVALID", "a rule is broken");
    },
    () => Promise.reject(new KernelError("CONFIG_INVALID", "a rule is broken")),
  ]) {
    const { text, dropped } = await logged(broken);
    expect([text, dropped]).toEqual(["", 4]);
  }
});

test("ids stay, however random they look, and a value under a name that promises a secret goes", () => {
  const redactor = createRedactor({});
  const id = "ses_E1VV29-3ex-7_i2OWAEBrA";
  const shown = redactedValue(redactor, {
    session_id: id,
    uid: id,
    password: "Tr0ub4dor&3x9",
    list: [AWS],
    deep: { aws: AWS },
  });
  expect(shown).toMatchObject({ session_id: id, uid: id });
  expect(JSON.stringify(shown)).not.toContain("Tr0ub4dor");
  expect(JSON.stringify(shown)).not.toContain(AWS);
});

test("a secret that is a name goes as well, and what lies too deep is left out", () => {
  const redactor = createRedactor({});
  let deep: JsonObject = { innermost: "okapi" };
  for (let level = 0; level < 20; level += 1) deep = { inner: deep };
  const shown = JSON.stringify(redactedValue(redactor, { [AWS]: "a value", deep, near: { inner: "okapi" } }));
  expect(shown).not.toContain(AWS);
  expect(shown).not.toContain("innermost");
  expect(shown).toContain("(too deep)");
  expect(shown).toContain('"near":{"inner":"okapi"}'); // the control
});
