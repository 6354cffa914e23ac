/** The policy guide tells the truth: every example in it is loaded and every request in it decided. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defaultSettings, parseSettings } from "../../src/config/config.ts";
import { capabilityParts } from "../../src/config/sections/capabilities.ts";
import { EFFECT_CLASSES } from "../../src/model/outcome/effect.ts";
import { parseExamples } from "../../src/policy/examples.ts";
import { createPolicyEngine, type PolicyResource } from "../../src/policy/policy.ts";
import { resourceSchema } from "../../src/policy/terms/resource.ts";
import { CONTEXT_ATTRIBUTES } from "../../src/policy/terms/vocabulary.ts";
import { BUILT_IN_TOOLS } from "../../src/server/operator/built-in-tools.ts";
import { checkCapabilities } from "../../src/server/operator/capability-overrides.ts";
import { exampleInputs } from "../../src/server/policy/policies.ts";
import { formatFailure, runExamples } from "../../src/server/policy/policy-examples.ts";
import { ACTIONS, file, operator, presetSources, ROLES, request } from "../support/policy-fixtures.ts";

const guide = readFileSync(new URL("../../docs/guide/policy.md", import.meta.url), "utf8");

const example = z.strictObject({
  role: z.string().optional(),
  action: z.string().optional(),
  effect: z.enum(EFFECT_CLASSES).optional(),
  resource: z
    .union([
      z.strictObject({
        path: z.string().optional(),
        zone: z.enum(["own", "protected", "shared", "managed", "secret"]).optional(),
      }),
      resourceSchema,
    ])
    .default({}),
  context: z
    .strictObject({ trust: z.enum(["untrusted", "verified", "user", "system"]), time: z.number() })
    .partial()
    .default({}),
  capability: z.enum(["ask", "arm", "stage"]).optional(),
  allow: z.array(z.string()).optional(),
  obligations: z.array(z.string()).default([]),
  deny: z.string().optional(),
});
type Example = z.infer<typeof example>;

/** Each Cedar block with the requests right after it, and the heading above. */
const examples = [...guide.matchAll(/```cedar\n(.*?)```\n\n```json\n(.*?)```/gs)].map((found) => ({
  heading:
    guide
      .slice(0, found.index)
      .match(/^#+ (.*)$/gm)
      ?.at(-1) ?? "",
  text: found[1] ?? "",
  requests: z.array(example).parse(JSON.parse(found[2] ?? "")),
}));

test("every Cedar block of the guide is an example with requests, and it has several", () => {
  expect(guide.match(/```cedar/g)).toHaveLength(examples.length);
  expect(guide.match(/```json/g)).toHaveLength(examples.length);
  expect(examples.length).toBeGreaterThanOrEqual(7);
});

describe.each(examples)("$heading", ({ text, requests }) => {
  test("does what the guide says", async () => {
    const engine = await createPolicyEngine({
      actions: ACTIONS,
      sources: [...presetSources("dev"), operator(text)],
      roles: [...ROLES, "auditor"],
    });
    expect(engine.warnings).toEqual([]);
    for (const one of requests)
      expect(decided(engine.evaluate(requestOf(one))), JSON.stringify(one)).toEqual(promised(one));
    engine.dispose();
  });
});

/** Examples as they stand beside a policy: the Cedar block, its requests, then the sidecar. */
const sidecars = [...guide.matchAll(/```cedar\n([^`]*)```\n\n```json\n[^`]*```\n\n```yaml\n([^`]*)```/g)].map(
  (found) => ({
    policy: found[1] ?? "",
    text: found[2] ?? "",
  }),
);

/** Settings as they stand in handrail.yaml: every other block of YAML. */
const settingsBlocks = [...guide.matchAll(/```yaml\n([^`]*)```/g)]
  .map(([, text = ""]) => text)
  .filter((text) => !sidecars.some((one) => one.text === text));

test("the settings that the guide shows are valid", async () => {
  expect(settingsBlocks.length).toBeGreaterThanOrEqual(1);
  for (const text of settingsBlocks) checkCapabilities(await parseSettings(text, "handrail.yaml"), "handrail.yaml");
});

test("every key of a capability is named in the guide", () => {
  const row = guide.slice(guide.indexOf("| key | says |"));
  for (const key of Object.keys(capabilityParts)) expect(row).toContain(`\`${key}\``);
});

test("the examples beside a policy that the guide shows are kept, and the sidecars are all tried", async () => {
  expect(sidecars.length + settingsBlocks.length).toBe(guide.match(/```yaml/g)?.length ?? 0);
  expect(sidecars.length).toBeGreaterThanOrEqual(1);
  for (const { policy, text } of sidecars) {
    const settings = defaultSettings();
    const operator = {
      path: "/nowhere",
      exists: true,
      settings,
      policies: [{ name: "own.cedar", text: policy }],
      examples: [{ name: "own.test.yaml", text }],
    };
    const report = await runExamples(exampleInputs({ tools: BUILT_IN_TOOLS, operator }));
    expect([...report.problems, ...report.results.filter(({ ok }) => !ok).map(formatFailure)]).toEqual([]);
    expect(report.results.length).toBeGreaterThan(5);
  }
});

test("every key of an example is named in the guide, and no other is known", async () => {
  const keys = [
    "allow",
    "deny",
    "arguments",
    "resource",
    "effect",
    "zone",
    "by",
    "obligations",
    "role",
    "preset",
    "workspace",
    "agent",
    "user",
    "context",
  ];
  const rows = guide.slice(guide.indexOf("## Examples"), guide.indexOf("## Changing policy")).match(/^\| `.*$/gm) ?? [];
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map((found) => found[1]));
  expect(named.sort()).toEqual([...keys].sort());
  const { problems } = await parseExamples([{ name: "own.test.yaml", text: "- deny: read_file\n  other: 1\n" }]);
  expect(problems).toHaveLength(1);
});

test("every annotation, entity and context attribute that exists is named in the guide", () => {
  const names = ["@id", "@message", "@rationale", "@ask", "@arm", "@stage", "@waives"];
  const entities = ["Session", "Role", "File", "Tool", "Host", "Command", "GitRef", "Model", "Package", "Artifact"];
  const attributes = [...Object.keys(CONTEXT_ATTRIBUTES), "arguments"];
  const missing = [
    ...names,
    ...entities.map((name) => `\`${name}\``),
    ...attributes.map((name) => `| \`${name}\``),
  ].filter((name) => !guide.includes(name));
  expect(missing).toEqual([]);
});

function requestOf(one: Example) {
  const action = one.action ?? "read_file";
  const resource: PolicyResource = "kind" in one.resource ? one.resource : file(one.resource.zone, one.resource.path);
  return request({
    action,
    resource,
    role: one.role ?? "dev",
    effect: one.effect ?? "read",
    context: {
      ...(one.context.trust === undefined ? {} : { trust: one.context.trust }),
      ...(one.context.time === undefined ? {} : { time: one.context.time }),
    },
    capabilityObligations:
      one.capability === undefined ? [] : [{ obligation: one.capability, ruleId: `CAPABILITY:${action}` }],
  });
}

function decided(verdict: ReturnType<Awaited<ReturnType<typeof createPolicyEngine>>["evaluate"]>) {
  if (verdict.decision === "deny") return { deny: verdict.ruleId };
  return { allow: verdict.permits, obligations: verdict.obligations.map((due) => `${due.obligation} ${due.ruleId}`) };
}

function promised(one: Example) {
  return one.deny === undefined ? { allow: one.allow, obligations: one.obligations } : { deny: one.deny };
}
