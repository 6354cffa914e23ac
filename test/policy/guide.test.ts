/** The policy guide tells the truth: every example in it is loaded and every request in it decided. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { EFFECT_CLASSES } from "../../src/model/effect.ts";
import { createPolicyEngine, type PolicyResource } from "../../src/policy/policy.ts";
import { ACTIONS, file, operator, presetSources, ROLES, request } from "./fixtures.ts";

const guide = readFileSync(new URL("../../docs/policy-guide.md", import.meta.url), "utf8");

const example = z.strictObject({
  role: z.string().optional(),
  action: z.string().optional(),
  effect: z.enum(EFFECT_CLASSES).optional(),
  resource: z
    .union([
      z.strictObject({ path: z.string().optional(), zone: z.enum(["own", "protected", "shared", "managed", "secret"]).optional() }),
      z.strictObject({ kind: z.literal("command"), binary: z.string(), line: z.string() }),
      z.strictObject({ kind: z.literal("host"), host: z.string(), port: z.number() }),
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
    for (const one of requests) expect(decided(engine.evaluate(requestOf(one))), JSON.stringify(one)).toEqual(promised(one));
    engine.dispose();
  });
});

test("every annotation, entity and context attribute that exists is named in the guide", () => {
  const names = ["@id", "@message", "@rationale", "@ask", "@arm", "@stage", "@waives"];
  const entities = ["Session", "Role", "File", "Tool", "Host", "Command", "GitRef", "Model", "Package", "Artifact"];
  const attributes = ["effect", "tool", "armed", "trust", "dataClass", "network", "time", "arguments"];
  const missing = [...names, ...entities.map((name) => `\`${name}\``), ...attributes.map((name) => `| \`${name}\``)].filter(
    (name) => !guide.includes(name),
  );
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
    capabilityObligations: one.capability === undefined ? [] : [{ obligation: one.capability, ruleId: `CAPABILITY:${action}` }],
  });
}

function decided(verdict: ReturnType<Awaited<ReturnType<typeof createPolicyEngine>>["evaluate"]>) {
  if (verdict.decision === "deny") return { deny: verdict.ruleId };
  return { allow: verdict.permits, obligations: verdict.obligations.map((due) => `${due.obligation} ${due.ruleId}`) };
}

function promised(one: Example) {
  return one.deny === undefined ? { allow: one.allow, obligations: one.obligations } : { deny: one.deny };
}
