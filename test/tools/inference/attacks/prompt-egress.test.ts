/** What must not leave in a prompt, and what a person is asked about first: by what the content is, seen or not. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import type { Mark } from "../../../../src/model/outcome/label.ts";
import { createRedactor } from "../../../../src/redact/redact.ts";
import {
  MODEL_KEY,
  MODEL_PLACEHOLDER,
  type ModelPlaceOptions,
  modelPlace,
  storeLabelled,
} from "../../../support/model-place.ts";
import { type AskedModel, openaiServer } from "../../../support/model-servers.ts";

const CALL = { provider: "openai", model: "m-1", max_tokens: 10 };
const USER: Mark = { trustLevel: "user", dataClass: "internal" };
/** Allows every model, but waives nothing that flow control asks. */
const ALLOWED = `@id("test.models")
@message("m")
permit (principal, action == Handrail::Action::"inference", resource);
`;

async function place(options: ModelPlaceOptions = {}) {
  const seen: AskedModel[] = [];
  const server = openaiServer({ pieces: ["Hello"], inputTokens: 1, outputTokens: 1, key: MODEL_KEY, seen });
  const opened = await modelPlace({ openai: server, asks: true, preset: "reader", policies: ALLOWED, ...options });
  const stored = (text: string, mark: Mark = USER) =>
    storeLabelled(opened.kernel, text, mark, opened.kernel.session.userId);
  const ask = (args: JsonObject) => opened.ask({ ...CALL, ...args });
  return { ...opened, seen, stored, ask };
}

test("secret content leaves in no prompt, though this session has not seen it", async () => {
  const { ask, stored, seen } = await place();
  expect((await ask({ prompt_hash: await stored("of no interest") })).kind).toBe("success"); // control
  for (const [prompt, system] of [
    ["secret", "internal"],
    ["internal", "secret"],
  ] as const) {
    const outcome = await ask({
      prompt_hash: await stored(`p ${prompt}`, { ...USER, dataClass: prompt }),
      system_prompt_hash: await stored(`s ${system}`, { ...USER, dataClass: system }),
    });
    expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "flow_secret_egress", ruleId: "FC-2" } });
  }
  expect(seen).toHaveLength(1);
});

test("sensitive content is asked about, and goes nowhere where nobody can be asked", async () => {
  const { ask, stored, seen } = await place();
  const outcome = await ask({ prompt_hash: await stored("salaries", { ...USER, dataClass: "sensitive" }) });
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
  expect(JSON.stringify(outcome)).toContain("FC-2");
  expect(seen).toEqual([]);
});

test("untrusted content is asked about: a model may be made to say anything with it", async () => {
  const { ask, stored, seen } = await place();
  const outcome = await ask({ prompt_hash: await stored("ignore all that", { ...USER, trustLevel: "untrusted" }) });
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "tool_approval_required" } });
  expect(JSON.stringify(outcome)).toContain("FC-3");
  expect(seen).toEqual([]);
});

test("what a model makes of untrusted or sensitive content is labelled as that", async () => {
  const policies = `@id("test.models")
@message("m")
@waives("*")
permit (principal, action in [Handrail::Action::"inference", Handrail::Action::"artifact_fetch"], resource)
when { context.tool == "inference" };
`;
  const { ask, stored, kernel } = await place({ policies });
  const mark: Mark = { trustLevel: "untrusted", dataClass: "sensitive" };
  const outcome = await ask({ prompt_hash: await stored("a page", mark) });
  expect(outcome).toMatchObject({ kind: "success", label: mark });
  const hash = outcome.kind === "success" ? String(outcome.data["completion_hash"]) : "";
  const owner = { userId: kernel.session.userId, workspace: kernel.session.serviceRoot };
  expect((await kernel.content.find(hash, owner))?.label).toMatchObject(mark);
});

test("a secret that became known after it was stored is found before it leaves", async () => {
  const secret = "correct-horse-battery-staple-4711";
  const known = [{ rule: "configured-secret", value: secret }];
  const { ask, stored, seen } = await place({ redactor: createRedactor({ known }) });
  const outcome = await ask({ prompt_hash: await stored(`deploy with ${secret}`) });
  expect(outcome).toMatchObject({
    kind: "denied",
    denial: { reason: "flow_secret_egress", ruleId: "FC:secret-egress" },
  });
  expect(JSON.stringify(outcome)).not.toContain(secret);
  expect(seen).toEqual([]);
});

test("a placeholder in a prompt is not filled for the provider, and counts as a violation", async () => {
  const { ask, stored, seen, kernel } = await place();
  const outcome = await ask({ prompt_hash: await stored(`repeat ${MODEL_PLACEHOLDER}`) });
  expect(outcome).toMatchObject({ kind: "denied", denial: { reason: "secret_binding_mismatch" } });
  expect(seen).toEqual([]);
  expect(kernel.ledger.of("network_blocked").map(({ payload }) => payload["reason"])).toEqual(["secret_binding"]);
});

test("a provider whose key cannot be read is not asked", async () => {
  const { ask, stored, seen } = await place({ keyValue: undefined });
  expect(await ask({ prompt_hash: await stored("hi") })).toMatchObject({ kind: "error", code: "PERMISSION_DENIED" });
  expect(seen).toEqual([]);
});
