/** Slices and the memo: what shares an entry, what must not, and that both are bounded. */
import { describe, expect, test } from "vitest";
import { POLICY_MEMO_ENTRIES_MAX } from "../../../src/policy/engine.ts";
import { Memo } from "../../../src/policy/evaluate/memo.ts";
import { projectionOf } from "../../../src/policy/evaluate/projection.ts";
import { sliceOf } from "../../../src/policy/evaluate/slice.ts";
import type { PolicyEngine } from "../../../src/policy/policy.ts";
import { engineOf, file, operator, presetSources, request } from "../../support/policy-fixtures.ts";

const readSlice = (engine: PolicyEngine, role = "dev") =>
  sliceOf(engine.policies, { action: "read_file", groups: ["read"], role, kind: "file" });

async function projectionOfText(scope: string, condition = "") {
  const engine = await engineOf([operator(`@id("x") permit (${scope}) ${condition};`)]);
  const projection = projectionOf(engine.policies);
  return projection.kind === "whole" ? "whole" : projection.paths.map((path) => path.join("."));
}

describe("sharing", () => {
  test.each(["reader", "dev", "autonomous", "open"] as const)(
    "preset %s: a contributor's reads of different paths in one zone share an entry",
    async (preset) => {
      const engine = await engineOf(presetSources(preset));
      for (let index = 0; index < 50; index += 1)
        expect(engine.evaluate(request({ resource: file("own", `src/${index}.ts`) })).decision).toBe("allow");
      expect(engine.statistics()).toEqual({ hits: 49, misses: 1, slices: 1, entries: 1 });
      expect(engine.evaluate(request({ resource: file("secret", "src/0.ts") })).decision).toBe("deny");
      expect(engine.evaluate(request({ effect: "write", resource: file("shared", "src/0.ts") })).decision).toBe("deny");
      expect(engine.statistics()).toMatchObject({ hits: 49, misses: 3 });
    },
  );

  test("the product owner's reads do not share: the path decides", async () => {
    const engine = await engineOf(presetSources("dev"));
    const read = (path: string) =>
      engine.evaluate(request({ role: "product_owner", resource: file("own", path) })).decision;
    expect([read("docs/a"), read("src/a"), read("docs/a"), read("src/a")]).toEqual(["allow", "deny", "allow", "deny"]);
    expect(engine.statistics()).toMatchObject({ hits: 2, misses: 2 });
  });

  test("a policy about one session keeps sessions apart", async () => {
    const engine = await engineOf([
      operator(`@id("x") permit (principal == Handrail::Session::"ses_1", action, resource);`),
    ]);
    const by = (sessionId: string) => engine.evaluate(request({ sessionId })).decision;
    expect([by("ses_1"), by("ses_2"), by("ses_1"), by("ses_2")]).toEqual(["allow", "deny", "allow", "deny"]);
  });

  test("an attribute that is asked for by name of an object's built-in member is absent", async () => {
    const engine = await engineOf([
      operator(
        `@id("x") permit (principal, action, resource) when { context has constructor || context has toString };`,
      ),
    ]);
    expect(engine.evaluate(request()).decision).toBe("deny");
  });
});

describe("projections", () => {
  test.each([
    ["nothing", "principal, action, resource", "", []],
    [
      "the role, the action and the kind",
      `principal in Handrail::Role::"dev", action in Handrail::Action::"read", resource is Handrail::File`,
      `when { principal in [Handrail::Role::"sre"] && resource is Handrail::File && action == Handrail::Action::"read_file" }`,
      [],
    ],
    ["a session", `principal == Handrail::Session::"s", action, resource`, "", ["principal"]],
    ["a resource", `principal, action, resource == Handrail::File::"service:a"`, "", ["resource"]],
    [
      "a resource within",
      `principal, action, resource is Handrail::File in Handrail::File::"service:a"`,
      "",
      ["resource"],
    ],
    [
      "attributes",
      "principal, action, resource is Handrail::File",
      `when { resource.zone == "own" && !(principal.mode == "x") || [context.trust].contains("user") }`,
      ["context.trust", "principal.mode", "resource.zone"],
    ],
    ["the time", "principal, action, resource", "when { context.time > 5 + 1 }", ["context.time"]],
    [
      "an optional attribute",
      "principal, action, resource is Handrail::GitRef",
      `when { resource has remote && resource.remote like "o*" }`,
      ["resource.remote"],
    ],
    [
      "an argument",
      `principal, action == Handrail::Action::"git_push", resource`,
      "when { context.arguments has confirm && context.arguments.confirm }",
      ["context.arguments.confirm"],
    ],
    [
      "all arguments",
      `principal, action == Handrail::Action::"git_push", resource`,
      "when { context.arguments == context.arguments }",
      ["context.arguments"],
    ],
    [
      "a choice",
      "principal, action, resource",
      `when { if context.armed then principal.user == "a" else principal.agent == "b" }`,
      ["context.armed", "principal.agent", "principal.user"],
    ],
  ])("reads %s", async (_, scope, condition, reads) => {
    expect(await projectionOfText(scope, condition)).toEqual(reads);
  });

  test.each([
    ["the resource as a value", `when { resource == Handrail::File::"service:a" }`],
    ["the principal as a value", `when { [principal].contains(principal) }`],
    ["membership of the principal in a session", `when { principal in Handrail::Session::"s" }`],
    ["membership of the resource", `when { resource in Handrail::File::"service:a" }`],
    [
      "an attribute of an entity named in the policy",
      `when { Handrail::Session::"s" has mode && Handrail::Session::"s".mode == "x" }`,
    ],
    ["the whole context", `when { {a: context} == {a: context} }`],
    ["a function of an extension type", `when { ip("127.0.0.1").isLoopback() }`],
    ["an attribute of a record built in place", `when { {a: context.armed}.a }`],
  ])("not understood, so the whole request counts: %s", async (_, condition) => {
    expect(await projectionOfText("principal, action, resource is Handrail::File", condition)).toBe("whole");
  });

  test("an expression form that does not exist today is not understood", async () => {
    const [policy] = (await engineOf([operator(`@id("x") permit (principal, action, resource);`)])).policies;
    if (policy === undefined) throw new Error("the policy is missing");
    const withBody = (body: { readonly [name: string]: unknown }) =>
      projectionOf([{ ...policy, form: { ...policy.form, conditions: [{ kind: "when", body: body as never }] } }]).kind;
    expect(withBody({ Value: true })).toBe("paths");
    expect(withBody({ now: [] })).toBe("whole");
    expect(withBody({ "&&": { left: { Value: true }, right: { Slot: "?principal" } } })).toBe("whole");
    expect(withBody({ Value: true, Other: true })).toBe("whole");
    expect(projectionOf([{ ...policy, form: { ...policy.form, principal: { op: "near" } } }]).kind).toBe("whole");
  });
});

describe("slices", () => {
  const id = (engine: PolicyEngine, role?: string) => readSlice(engine, role).map((policy) => policy.id);

  test("keep what may match and leave out what cannot", async () => {
    const engine = await engineOf([
      operator(`
        @id("all") permit (principal, action, resource);
        @id("dev") permit (principal in Handrail::Role::"dev", action, resource);
        @id("is-dev") permit (principal is Handrail::Session in Handrail::Role::"dev", action, resource);
        @id("sre") permit (principal in Handrail::Role::"sre", action, resource);
        @id("session") permit (principal == Handrail::Session::"s", action, resource);
        @id("read") permit (principal, action in Handrail::Action::"read", resource);
        @id("some") permit (principal, action in [Handrail::Action::"write", Handrail::Action::"read_file"], resource);
        @id("write") permit (principal, action in Handrail::Action::"write", resource);
        @id("other") permit (principal, action == Handrail::Action::"shell", resource);
        @id("file") permit (principal, action, resource == Handrail::File::"service:a");
        @id("files") permit (principal, action, resource is Handrail::File);
        @id("host") permit (principal, action, resource is Handrail::Host);`),
    ]);
    expect(id(engine)).toEqual(["all", "dev", "is-dev", "session", "read", "some", "file", "files"]);
    expect(id(engine, "sre")).toEqual(["all", "sre", "session", "read", "some", "file", "files"]);
  });

  test("a scope that is not understood keeps its policy", async () => {
    const [policy] = (
      await engineOf([operator(`@id("x") permit (principal in Handrail::Role::"sre", action, resource);`)])
    ).policies;
    if (policy === undefined) throw new Error("the policy is missing");
    const odd = {
      ...policy,
      form: { ...policy.form, principal: { op: "near", entity: { type: "Handrail::Role", id: "sre" } } },
    };
    expect(sliceOf([policy], { action: "read_file", groups: ["read"], role: "dev", kind: "file" })).toEqual([]);
    expect(sliceOf([odd], { action: "read_file", groups: ["read"], role: "dev", kind: "file" })).toEqual([odd]);
  });
});

describe("bounds", () => {
  test("the memo drops its oldest entry", () => {
    const memo = new Memo<number>(2);
    for (const [index, key] of ["a", "b", "b", "c"].entries()) memo.set(key, index);
    expect([memo.get("a"), memo.get("b"), memo.get("c"), memo.size]).toEqual([undefined, 2, 3, 2]);
    memo.clear();
    expect([memo.get("b"), memo.size]).toEqual([undefined, 0]);
  });

  test("an engine remembers POLICY_MEMO_ENTRIES_MAX decisions at most", async () => {
    const engine = await engineOf([
      operator(`@id("x") permit (principal, action, resource is Handrail::File) when { resource.path like "a*" };`),
    ]);
    for (let index = 0; index < POLICY_MEMO_ENTRIES_MAX + 10; index += 1)
      engine.evaluate(request({ resource: file("own", `a${index}`) }));
    expect(engine.statistics().entries).toBe(POLICY_MEMO_ENTRIES_MAX);
    expect(engine.evaluate(request({ resource: file("own", "b") })).decision).toBe("deny");
  });
});
