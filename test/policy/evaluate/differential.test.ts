/** Slices and memo change no verdict: random policies, failing ones included, against random requests. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { DATA_CLASSES, TRUST_LEVELS } from "../../../src/model/outcome/label.ts";
import { PRESET_NAMES } from "../../../src/model/people/preset.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import type { PolicyRequest, PolicyResource } from "../../../src/policy/policy.ts";
import { ACTIONS, engineOf, operator, presetSources, ROLES, request } from "../../support/policy-fixtures.ts";
import { searching } from "../../support/thorough.ts";

const role = fc.constantFrom(...ROLES.slice(0, 4));
const ASKED = ["read_file", "write_file", "everywhere", "everywhere", "git_push", "plugin__lookup"];
const sessionId = fc.constantFrom("ses_1", "ses_2");
const path = fc.constantFrom("a", "docs/a", "docs", "README.md", "src/a.ts");
const HUGE = Number.MAX_SAFE_INTEGER;

const resource: fc.Arbitrary<PolicyResource> = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    path,
    root: fc.constantFrom("service" as const, "project" as const),
    zone: fc.constantFrom("own" as const, "protected" as const, "shared" as const, "secret" as const),
  }),
  fc.record({ kind: fc.constant("tool" as const), name: fc.constantFrom(...ASKED) }),
  fc.record({
    kind: fc.constant("host" as const),
    host: fc.constantFrom("127.0.0.1", "example.com"),
    port: fc.constantFrom(80, 443),
  }),
  fc.record({
    kind: fc.constant("git_ref" as const),
    remote: fc.constantFrom("origin", ""),
    ref: fc.constantFrom("main", "x"),
  }),
  fc
    .record({
      argv: fc.constantFrom(["rm", "-rf", "x"] as const, ["/bin/rm", "x"] as const, ["npm", "install"] as const),
      inputFrom: fc.subarray(["curl", "wget"]),
      dangers: fc.subarray(["unparsed", "dynamic_code"] as const),
      dynamic: fc.boolean(),
    })
    .map(({ argv, ...beside }) => commandOf(argv, beside)),
  fc.record({ kind: fc.constant("git_ref" as const), ref: fc.constantFrom("main", "x") }),
);

const asked: fc.Arbitrary<PolicyRequest> = fc
  .record({
    role,
    sessionId,
    resource,
    action: fc.constantFrom(...ASKED),
    effect: fc.constantFrom("read" as const, "write" as const, "exec" as const),
    mode: fc.constantFrom("default", "strict"),
    context: fc.record({
      armed: fc.boolean(),
      trust: fc.constantFrom(...TRUST_LEVELS),
      dataClass: fc.constantFrom(...DATA_CLASSES),
      network: fc.boolean(),
      time: fc.constantFrom(0, 7, HUGE),
    }),
    arguments: fc.record({ confirm: fc.boolean(), remote: fc.constantFrom("origin", "fork") }, { requiredKeys: [] }),
    capabilityObligations: fc.constantFrom([], [{ obligation: "ask" as const, ruleId: "CAPABILITY:x" }]),
  })
  .map(request);

/** Requests that differ from one before in one part only: where a wrongly shared memo entry would show. */
const neighbours: fc.Arbitrary<readonly PolicyRequest[]> = fc
  .tuple(
    asked,
    fc.array(fc.tuple(fc.constantFrom("principal", "resource", "resource", "context", "arguments", "effect"), asked), {
      minLength: 8,
      maxLength: 12,
    }),
  )
  .map(([base, others]) => [base, ...others.map(([part, other]) => ({ ...base, [part]: other[part] }))]);

/** Conditions on the identity of an entity: what a projection must not overlook. */
const identity = fc.constantFrom(
  `principal == Handrail::Session::"ses_1"`,
  `principal in Handrail::Session::"ses_2"`,
  `resource == Handrail::File::"service:a"`,
  `resource in Handrail::Host::"127.0.0.1:80"`,
);
const attribute = fc.constantFrom(
  "context.armed",
  "context.network",
  `context.trust == "untrusted"`,
  `["internal", "secret"].contains(context.dataClass)`,
  `context.effect == "read"`,
  "context.time > 5",
  // These two fail for the huge time, as does the product with a port.
  `context.time * ${HUGE} > 0`,
  `context.time + 9223372036854775000 > 0`,
  `principal.mode == "strict"`,
  `principal in Handrail::Role::"dev"`,
  `principal in [Handrail::Role::"sre", Handrail::Role::"product_owner"]`,
  `action == Handrail::Action::"write_file"`,
  `action in Handrail::Action::"foreign"`,
  `resource is Handrail::File && resource.path like "docs*"`,
  `resource is Handrail::File && resource.zone == "own"`,
  `resource is Handrail::File && resource == Handrail::File::"service:a"`,
  `resource is Handrail::Host && resource.port + 1 == 81`,
  `ip("127.0.0.1").isLoopback()`,
  `resource is Handrail::Host && resource.port * ${HUGE} < context.time`,
  `resource is Handrail::Command && resource.options.contains("rf")`,
  `resource is Handrail::Command && resource.name == "rm" && resource.inputFrom.containsAny(["curl"])`,
  `resource is Handrail::Command && (resource.dangerous || resource.dynamic)`,
  `resource is Handrail::Command && resource.arguments == ["x"]`,
  `resource is Handrail::GitRef && resource has remote && resource.remote == "origin"`,
  "context.arguments has confirm",
  "context has nothing",
  `(if context.armed then context.trust else principal.mode) == "user"`,
);
const atom = fc.oneof({ weight: 2, arbitrary: attribute }, { weight: 1, arbitrary: identity });
const condition: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    atom,
    tie("node").map((inner) => `!(${inner})`),
    fc
      .tuple(tie("node"), fc.constantFrom("&&", "||"), tie("node"))
      .map(([left, operator_, right]) => `((${left}) ${operator_} (${right}))`),
  ),
})).node;

const scope = fc
  .tuple(
    fc.oneof(
      fc.constantFrom("principal", "principal", "principal is Handrail::Session"),
      role.map((name) => `principal in Handrail::Role::"${name}"`),
      sessionId.map((id) => `principal == Handrail::Session::"${id}"`),
      role.map((name) => `principal is Handrail::Session in Handrail::Role::"${name}"`),
    ),
    fc.constantFrom(
      "action",
      "action",
      `action in Handrail::Action::"read"`,
      `action == Handrail::Action::"everywhere"`,
      `action in [Handrail::Action::"write", Handrail::Action::"git_push"]`,
      `action in Handrail::Action::"foreign"`,
    ),
    fc.constantFrom(
      "resource",
      "resource",
      "resource is Handrail::File",
      "resource is Handrail::Host",
      `resource == Handrail::File::"service:a"`,
      `resource in Handrail::File::"project:docs"`,
      `resource is Handrail::File in Handrail::File::"service:a"`,
    ),
  )
  .map((parts) => parts.join(", "));

const policies = fc
  .array(
    fc.record({
      effect: fc.constantFrom("permit", "permit", "forbid"),
      scope,
      when: fc.option(condition),
      unless: fc.option(condition),
      extra: fc.constantFrom("", "", "@ask", `@stage("s")`, `@waives("p0, CAPABILITY:x")`),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((list) =>
    list
      .map(
        (policy, index) =>
          `@id("p${index}") ${policy.effect === "permit" ? policy.extra : ""} ${policy.effect} (${policy.scope})${policy.when === null ? "" : ` when { ${policy.when} }`}${policy.unless === null ? "" : ` unless { ${policy.unless} }`};`,
      )
      .join("\n"),
  );

test("sliced and remembered verdicts are those of the plain engine", async () => {
  const seen = { allow: 0, forbid: 0, default: 0, error: 0, hits: 0 };
  await fc.assert(
    fc.asyncProperty(policies, fc.array(neighbours, { minLength: 3, maxLength: 4 }), async (text, requests) => {
      const engine = await engineOf([operator(text)]);
      for (const one of requests.flat()) {
        const verdict = engine.evaluate(one);
        expect(verdict).toEqual(engine.evaluatePlainly(one));
        seen[verdict.decision === "allow" ? "allow" : verdict.cause] += 1;
      }
      seen.hits += engine.statistics().hits;
      engine.dispose();
    }),
    { numRuns: searching({ shortly: 50, thoroughly: 300 }) },
  );
  // The property is worth something only if all of these really happened.
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10);
});

test("the same for the shipped presets", async () => {
  for (const preset of PRESET_NAMES) {
    const engine = await engineOf(presetSources(preset));
    const action = fc.constantFrom(...ACTIONS.map((declared) => declared.name));
    fc.assert(
      fc.property(asked, action, (one, name) => {
        const moved = { ...one, action: name };
        expect(engine.evaluate(moved)).toEqual(engine.evaluatePlainly(moved));
      }),
      { numRuns: searching({ shortly: 1200, thoroughly: 5000 }) },
    );
    expect(engine.statistics().hits).toBeGreaterThan(50);
    engine.dispose();
  }
});
