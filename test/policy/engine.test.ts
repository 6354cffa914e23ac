/** Decisions: default deny, forbid wins, failures deny, obligations add up, waivers lift. */
import * as cedar from "@cedar-policy/cedar-wasm/nodejs";
import { describe, expect, test } from "vitest";
import type { PolicyRequest } from "../../src/policy/policy.ts";
import { engineOf, file, operator, request } from "../support/policy-fixtures.ts";

const PERMIT_READ = `@id("own.read") permit (principal, action in Handrail::Action::"read", resource);`;
// 2^53 - 1 seconds times itself does not fit into 64 bits: the one way in which a valid policy can still fail.
const LATE = { time: Number.MAX_SAFE_INTEGER };
const OVERFLOWS = `@id("own.overflow") forbid (principal, action, resource) when { context.time * 9007199254740991 < 0 };`;

describe("deciding", () => {
  test("nothing loaded: everything is denied by DEFAULT_DENY", async () => {
    const engine = await engineOf([]);
    expect(engine.evaluate(request())).toEqual({
      decision: "deny",
      cause: "default",
      ruleId: "DEFAULT_DENY",
      message: "no policy permits this; do it another way, or ask the operator for a permit",
      forbids: [],
    });
  });

  test("a matching permit allows; what it does not name stays denied", async () => {
    const engine = await engineOf([operator(PERMIT_READ)]);
    expect(engine.evaluate(request())).toEqual({
      decision: "allow",
      permits: ["own.read"],
      obligations: [],
      waived: [],
    });
    expect(engine.evaluate(request({ action: "write_file", effect: "write" }))).toMatchObject({
      decision: "deny",
      ruleId: "DEFAULT_DENY",
    });
  });

  test("a forbid wins over permits and over `@waives`, and names itself", async () => {
    const engine = await engineOf([
      operator(`${PERMIT_READ}
        @id("own.waiver") @waives("own.no-secrets, *") permit (principal, action, resource);
        @id("own.no-secrets") @rationale("no_secrets") @message("look elsewhere") forbid (principal, action, resource is Handrail::File) when { resource.zone == "secret" };
        @id("own.also") forbid (principal, action, resource is Handrail::File) when { resource.zone == "secret" };`),
    ]);
    expect(engine.evaluate(request({ resource: file("secret", ".env") }))).toEqual({
      decision: "deny",
      cause: "forbid",
      ruleId: "own.also",
      forbids: ["own.also", "own.no-secrets"],
    });
    expect(engine.evaluate(request()).decision).toBe("allow");
  });

  test("a denial carries the policy's rationale and message", async () => {
    const engine = await engineOf([
      operator(
        `@id("own.no") @rationale("not_today") @message("come back tomorrow") forbid (principal, action, resource);`,
      ),
    ]);
    expect(engine.evaluate(request())).toEqual({
      decision: "deny",
      cause: "forbid",
      ruleId: "own.no",
      rationale: "not_today",
      message: "come back tomorrow",
      forbids: ["own.no"],
    });
  });

  test("the action's groups hold, and an action is in no other group", async () => {
    const engine = await engineOf([
      operator(`@id("own.write") permit (principal, action in Handrail::Action::"write", resource);`),
    ]);
    expect(engine.evaluate(request({ action: "edit_file", effect: "write" })).decision).toBe("allow");
    expect(engine.evaluate(request({ action: "shell", effect: "write" })).decision).toBe("deny");
  });

  test("declared arguments can be read, undeclared ones cannot be seen", async () => {
    const engine = await engineOf([
      operator(
        `@id("own.dry") permit (principal, action == Handrail::Action::"git_push", resource) unless { context.arguments has confirm && context.arguments.confirm };`,
      ),
    ]);
    const push = (args: Readonly<Record<string, unknown>>) =>
      engine.evaluate(
        request({ action: "git_push", effect: "network", resource: { kind: "git_ref", ref: "main" }, arguments: args }),
      ).decision;
    expect([push({}), push({ confirm: false }), push({ confirm: true }), push({ confirm: true, force: 1 })]).toEqual([
      "allow",
      "allow",
      "deny",
      "deny",
    ]);
  });
});

describe("what cannot be judged is denied", () => {
  test("control: Cedar alone skips a forbid that fails, and allows", () => {
    const answer = cedar.isAuthorized({
      principal: { type: "U", id: "u" },
      action: { type: "Action", id: "a" },
      resource: { type: "R", id: "r" },
      context: { time: Number.MAX_SAFE_INTEGER },
      policies: { staticPolicies: { "own.read": "permit (principal, action, resource);", "own.overflow": OVERFLOWS } },
      entities: [],
    });
    expect(answer.type === "success" && answer.response.decision).toBe("allow");
    expect(answer.type === "success" && answer.response.diagnostics.errors.map((error) => error.policyId)).toEqual([
      "own.overflow",
    ]);
  });

  test("a forbid that fails denies and is named", async () => {
    const engine = await engineOf([operator(`${PERMIT_READ}\n${OVERFLOWS}`)]);
    expect(engine.evaluate(request({ context: LATE }))).toEqual({
      decision: "deny",
      cause: "error",
      ruleId: "own.overflow",
      rationale: "tool_policy_invalid",
      message: "the policy `own.overflow` failed; the operator must correct it",
      forbids: [],
    });
    expect(engine.evaluate(request({ context: { time: 1 } })).decision).toBe("allow");
  });

  test("a permit that fails denies even if another permit matches", async () => {
    const engine = await engineOf([operator(`${PERMIT_READ}\n${OVERFLOWS.replace("forbid", "permit")}`)]);
    expect(engine.evaluate(request({ context: LATE }))).toMatchObject({
      decision: "deny",
      cause: "error",
      ruleId: "own.overflow",
    });
  });

  test.each([
    ["an unknown action", request({ action: "run_command" })],
    ["a canonical action that is not registered", request({ action: "git:bisect" })],
    ["the name of a group", request({ action: "read" })],
    ["an unknown role", request({ role: "root" })],
    [
      "a kind of resource that the action does not declare",
      request({ action: "git_push", effect: "network", resource: file() }),
    ],
    ["a time that is no whole number", request({ context: { time: 1.5 } })],
    ["a path with a lone surrogate", request({ resource: file("own", "a\ud800") })],
    [
      "an argument of the wrong type",
      request({ action: "git_push", resource: { kind: "git_ref", ref: "x" }, arguments: { confirm: "yes" } }),
    ],
    [
      "an argument that is no scalar",
      request({ action: "git_push", resource: { kind: "git_ref", ref: "x" }, arguments: { confirm: {} } }),
    ],
  ])("%s is denied although a policy permits everything", async (_, asked) => {
    const engine = await engineOf([operator(`@id("own.all") permit (principal, action, resource);`)]);
    expect(engine.evaluate(request()).decision).toBe("allow");
    expect(engine.evaluate(asked)).toMatchObject({
      decision: "deny",
      cause: "error",
      ruleId: "POLICY_REQUEST",
      rationale: "tool_policy_invalid",
    });
  });

  test("a request that is no request is denied, not thrown", async () => {
    const engine = await engineOf([operator(`@id("own.all") permit (principal, action, resource);`)]);
    const broken: unknown = { action: "read_file" };
    expect(engine.evaluate(broken as PolicyRequest)).toMatchObject({ decision: "deny", cause: "error" });
  });

  test("a disposed engine denies everything", async () => {
    const engine = await engineOf([operator(`@id("own.all") permit (principal, action, resource);`)]);
    expect(engine.evaluate(request()).decision).toBe("allow");
    engine.dispose();
    expect(engine.evaluate(request())).toMatchObject({ decision: "deny", cause: "error" });
    expect(engine.evaluatePlainly(request())).toMatchObject({ decision: "deny", cause: "error" });
  });

  test("two engines do not see each other's policies", async () => {
    const open = await engineOf([operator(`@id("own.all") permit (principal, action, resource);`)]);
    const closed = await engineOf([]);
    expect([
      open.evaluate(request()).decision,
      closed.evaluate(request()).decision,
      open.evaluate(request()).decision,
    ]).toEqual(["allow", "deny", "allow"]);
  });
});

describe("obligations", () => {
  const TEXT = `
    @id("own.read") permit (principal, action in Handrail::Action::"read", resource);
    @id("own.ask") @ask("it is late") permit (principal, action == Handrail::Action::"read_file", resource);
    @id("own.stage") @stage @arm("") permit (principal in Handrail::Role::"dev", action, resource);`;
  const SHELL = [
    { obligation: "ask" as const, ruleId: "CAPABILITY:read_file" },
    { obligation: "arm" as const, ruleId: "CAPABILITY:read_file" },
  ];

  test("those of all matching permits and of the capability add up", async () => {
    const engine = await engineOf([operator(TEXT)]);
    expect(engine.evaluate(request({ capabilityObligations: SHELL }))).toEqual({
      decision: "allow",
      permits: ["own.ask", "own.read", "own.stage"],
      obligations: [
        { obligation: "ask", ruleId: "own.ask", reason: "it is late" },
        { obligation: "arm", ruleId: "own.stage", reason: "" },
        { obligation: "stage", ruleId: "own.stage", reason: "" },
        { obligation: "ask", ruleId: "CAPABILITY:read_file", reason: "" },
        { obligation: "arm", ruleId: "CAPABILITY:read_file", reason: "" },
      ],
      waived: [],
    });
  });

  test("a permit that does not match asks nothing", async () => {
    const engine = await engineOf([operator(TEXT)]);
    expect(engine.evaluate(request({ action: "list_files", role: "sre" }))).toMatchObject({
      decision: "allow",
      permits: ["own.read"],
      obligations: [],
    });
  });

  test("a capability cannot allow what no policy permits", async () => {
    const engine = await engineOf([]);
    expect(engine.evaluate(request({ capabilityObligations: SHELL })).decision).toBe("deny");
  });

  test("`@waives` lifts the rule and the capability it names, for what its permit matches, and nothing else", async () => {
    const engine = await engineOf([
      operator(`${TEXT}
        @id("own.trust") @waives("own.ask, CAPABILITY:read_file") permit (principal, action, resource is Handrail::File) when { resource.directory == "docs" };`),
    ]);
    const verdict = engine.evaluate(request({ resource: file("own", "docs/a.md"), capabilityObligations: SHELL }));
    expect(verdict).toMatchObject({
      obligations: [
        { obligation: "arm", ruleId: "own.stage" },
        { obligation: "stage", ruleId: "own.stage" },
      ],
      waived: [
        { obligation: "ask", ruleId: "own.ask", waivedBy: "own.trust" },
        { obligation: "ask", ruleId: "CAPABILITY:read_file", waivedBy: "own.trust" },
        { obligation: "arm", ruleId: "CAPABILITY:read_file", waivedBy: "own.trust" },
      ],
    });
    const elsewhere = engine.evaluate(request({ capabilityObligations: SHELL }));
    expect(elsewhere.decision === "allow" && elsewhere.obligations.length).toBe(5);
  });

  test("a waiver ending in `*` names every id with that beginning", async () => {
    const engine = await engineOf([
      operator(`${TEXT}\n@id("own.trust") @waives("own.*") permit (principal, action, resource);`),
    ]);
    expect(engine.evaluate(request({ capabilityObligations: SHELL }))).toMatchObject({ obligations: SHELL });
  });

  test("the memo does not mix calls with and without capability obligations", async () => {
    const engine = await engineOf([operator(PERMIT_READ)]);
    const obligations = (asked: PolicyRequest) => {
      const verdict = engine.evaluate(asked);
      return verdict.decision === "allow" ? verdict.obligations.length : -1;
    };
    expect([
      obligations(request()),
      obligations(request({ capabilityObligations: SHELL })),
      obligations(request()),
    ]).toEqual([0, 2, 0]);
    expect(engine.statistics()).toMatchObject({ hits: 2, misses: 1 });
  });
});
