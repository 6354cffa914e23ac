/** Explanations: the deciding rule, all matching rules, and a permit that really is enough and no more. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandOf } from "../../src/model/place/command.ts";
import { exceptionFor, explain } from "../../src/policy/explain.ts";
import type { PolicyResource } from "../../src/policy/policy.ts";
import { engineOf, file, operator, presetSources, request } from "../support/policy-fixtures.ts";

describe("explaining", () => {
  test("an allowed call names its permits and where they are written", async () => {
    const engine = await engineOf(presetSources("dev"));
    const explanation = explain(engine, request());
    expect(explanation).toMatchObject({
      layer: "policy",
      decidedBy: ["dev.read-files"],
      policyHash: engine.hash,
      verdict: { decision: "allow" },
    });
    expect(explanation.matching).toEqual([
      {
        id: "dev.read-files",
        effect: "permit",
        outcome: "matched",
        file: "dev.cedar",
        line: 3,
        message: "files of the workspace may be read; nothing else is needed",
      },
    ]);
    expect(explanation.narrowestPermit).toBeUndefined();
  });

  test("a forbidden call names the forbid and the permits it beat, and offers no permit", async () => {
    const engine = await engineOf([
      ...presetSources("dev"),
      operator(`@id("own.all") permit (principal, action, resource);`),
    ]);
    const explanation = explain(engine, request({ resource: file("secret", ".env") }));
    expect(explanation.decidedBy).toEqual(["base.secret-zone"]);
    expect(explanation.matching.map(({ id, effect }) => `${effect} ${id}`)).toEqual([
      "forbid base.secret-zone",
      "permit own.all",
    ]);
    expect(explanation.narrowestPermit).toBeUndefined();
  });

  test("a failing policy is named as failed", async () => {
    const engine = await engineOf([
      operator(
        `@id("own.overflow") forbid (principal, action, resource) when { context.time * 9007199254740991 < 0 };`,
      ),
    ]);
    const explanation = explain(engine, request({ context: { time: Number.MAX_SAFE_INTEGER } }));
    expect(explanation).toMatchObject({
      decidedBy: ["own.overflow"],
      matching: [{ id: "own.overflow", outcome: "failed" }],
    });
    expect(explanation.narrowestPermit).toBeUndefined();
  });

  test("an unknown action is explained without a permit", async () => {
    const explanation = explain(await engineOf([]), request({ action: "run_command" }));
    expect(explanation).toMatchObject({ decidedBy: ["POLICY_REQUEST"], matching: [] });
    expect(explanation.narrowestPermit).toBeUndefined();
  });
});

describe("the narrowest permit", () => {
  test("is readable policy text", async () => {
    const explanation = explain(await engineOf([]), request());
    expect(explanation.narrowestPermit).toMatch(
      /^@id\("allow\.[0-9a-f]{12}"\)\npermit\(\n {2}principal in Handrail::Role::"dev",\n {2}action == Handrail::Action::"read_file",\n {2}resource == Handrail::File::"service:src\/a\.ts"\n\) when \{ context\.effect == "read" \};\n$/,
    );
  });

  test("allows the request and no other resource, role, action or effect", async () => {
    const denied = request({ role: "guest", resource: file("own", "a b") });
    const text = explain(await engineOf(presetSources("dev")), denied).narrowestPermit ?? "";
    const engine = await engineOf([...presetSources("dev"), operator(text)]);
    expect(engine.evaluate(denied).decision).toBe("allow");
    const others = [
      request({ role: "guest", resource: file("own", "a c") }),
      request({ role: "guest", resource: { ...file("own", "a b"), root: "project" } }),
      request({ role: "guest", resource: file("own", "a b"), action: "list_files" }),
      request({ role: "guest", resource: file("own", "a b"), effect: "write" }),
    ];
    expect(others.map((other) => engine.evaluate(other).decision)).toEqual(["deny", "deny", "deny", "deny"]);
  });

  test("of a command allows it fed, started and understood as it was, and no other way", async () => {
    const sh = (beside: Parameters<typeof commandOf>[1]) =>
      request({
        action: "shell",
        effect: "exec",
        resource: commandOf(["sh"], beside),
        context: { call: `{"command":"sh"}` },
      });
    const WAYS = [
      {},
      { inputFrom: ["curl"] },
      { inputFrom: ["cat"] },
      { inputFrom: ["cat", "curl"] },
      { via: ["sudo"] },
      { dangers: ["dynamic_code"] },
      { inputFrom: ["curl"], dangers: ["dynamic_code"] },
    ] as const;
    for (const [index, way] of WAYS.entries()) {
      const engine = await engineOf([operator(explain(await engineOf([]), sh(way)).narrowestPermit ?? "")]);
      const allowed = WAYS.map((other) => engine.evaluate(sh(other)).decision === "allow");
      expect(allowed).toEqual(WAYS.map((_, at) => at === index));
    }
  });

  test("of a command holds for one call alone, and there is none for a call without a name", async () => {
    const sh = (call?: string) =>
      request({
        action: "shell",
        effect: "exec",
        resource: commandOf(["sh"]),
        ...(call !== undefined && { context: { call } }),
      });
    const text = explain(await engineOf([]), sh(`{"command":"sh < a"}`)).narrowestPermit ?? "";
    const engine = await engineOf([operator(text)]);
    const calls = [`{"command":"sh < a"}`, `{"command":"sh < b"}`, "?", ""].map(
      (call) => engine.evaluate(sh(call)).decision,
    );
    expect(calls).toEqual(["allow", "deny", "deny", "deny"]);
    for (const call of ["?", undefined]) expect(explain(await engineOf([]), sh(call)).narrowestPermit).toBeUndefined();
    expect([exceptionFor(sh("?")), exceptionFor(sh(`{"command":"sh < a"}`))]).toEqual([
      undefined,
      expect.stringContaining("context.call == "),
    ]);
  });

  test("is valid and enough for any name an agent can write", async () => {
    const name = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
      fc.constantFrom(`"); permit(principal, action, resource); //`, `\\"`, "\n", "\0", "\u2028", "*"),
    );
    const resource: fc.Arbitrary<PolicyResource> = fc.oneof(
      name.map((path) => file("own", path)),
      name.map((line) => ({ ...commandOf(["sh"]), line })),
      name.map((from) => commandOf(["sh"], { inputFrom: [from, "a"], via: [from] })),
      name.map((ref) => ({ kind: "git_ref" as const, ref })),
      name.map((version) => ({ kind: "package" as const, manager: "npm", name: "left-pad", version })),
    );
    const empty = await engineOf([]);
    await fc.assert(
      fc.asyncProperty(resource, async (one) => {
        const denied = request({
          action: "everywhere",
          effect: "exec",
          resource: one,
          context: { call: JSON.stringify(one) },
        });
        const text = explain(empty, denied).narrowestPermit ?? "";
        const engine = await engineOf([operator(text)]);
        expect(engine.policies).toHaveLength(1);
        expect(engine.evaluate(denied).decision).toBe("allow");
        expect(engine.evaluate({ ...denied, resource: commandOf(["true"]) }).decision).toBe("deny");
        engine.dispose();
      }),
      { numRuns: 60 },
    );
  });
});
