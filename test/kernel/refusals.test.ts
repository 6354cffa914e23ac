/**
 * Refusals: small whatever was sent, clear about whose mistake it is, and no waiver opens what a tool closes itself.
 */
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { ARGUMENT_VALUES_MAX } from "../../src/base/limits.ts";
import { VIOLATION_FIELD_CHARACTERS_MAX, VIOLATIONS_LISTED_MAX } from "../../src/kernel/call/violations.ts";
import type { Denial } from "../../src/model/outcome/decision.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import type { Tool } from "../../src/model/tool/tool.ts";
import { type MemoryKernel, memoryKernel, testTool } from "../support/memory-kernel.ts";

function denialOf({ outcome }: CallResponse): Denial {
  if (outcome.kind !== "denied") throw new Error(`the call was not denied: ${JSON.stringify(outcome)}`);
  return outcome.denial;
}

/** Arguments of `read_file` with `count` properties that it does not know. */
function unknownProperties(count: number, name = (index: number) => `k${index}`): JsonObject {
  return { path: "a", ...Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), 1])) };
}

describe("a refusal of many mistakes", () => {
  test("lists the first violations, names the first few, and counts the rest", async () => {
    const { call } = await memoryKernel();
    const { violations, message } = denialOf(await call("read_file", unknownProperties(5000)));
    expect(violations).toHaveLength(VIOLATIONS_LISTED_MAX);
    expect(message).toBe(
      `the arguments do not fit \`read_file\`: ${[0, 1, 2, 3, 4, 5, 6, 7].map((index) => `\`k${index}\`: unknown property`).join("; ")}; and 4992 more`,
    );
  });

  test("cuts the names of fields, never inside a surrogate pair", async () => {
    const { call } = await memoryKernel();
    const long = `${"x".repeat(VIOLATION_FIELD_CHARACTERS_MAX - 1)}\u{1f600}${"y".repeat(100_000)}`;
    const response = await call(
      "read_file",
      unknownProperties(1, () => long),
    );
    expect(denialOf(response).violations).toEqual([
      { field: "x".repeat(VIOLATION_FIELD_CHARACTERS_MAX - 1), rule: "unknown_property", message: "unknown property" },
    ]);
    expect(JSON.stringify(response).length).toBeLessThan(2000);
  });

  test("looks at no arguments of more values than any tool takes, however they are arranged", async () => {
    const { call } = await memoryKernel();
    const most = unknownProperties(ARGUMENT_VALUES_MAX - 2);
    expect(denialOf(await call("read_file", most))).toMatchObject({ reason: "tool_input_invalid" });
    const tooMany: JsonObject[] = [
      unknownProperties(ARGUMENT_VALUES_MAX - 1),
      { path: Array.from({ length: ARGUMENT_VALUES_MAX }, () => 1) },
      { path: { deep: [Array.from({ length: ARGUMENT_VALUES_MAX }, () => null)] } },
    ];
    for (const args of tooMany) {
      expect(denialOf(await call("read_file", args))).toMatchObject({
        reason: "validation_failed",
        violations: [{ field: "call.arguments_json", rule: "max_items" }],
      });
    }
  });
});

describe("a tool that nobody has", () => {
  test.each([
    ["read_fil", "did you mean `read_file`?"],
    ["readFile", "did you mean `read_file`?"],
  ])("%s is answered with the nearest one, and with how to list them", async (name, meant) => {
    const denial = denialOf(await (await memoryKernel()).call(name, { path: "a" }));
    expect(denial).toMatchObject({ layer: "gates", reason: "tool_spec_missing", ruleId: "TOOL:unknown" });
    expect(denial.message).toContain(meant);
    for (const way of ["`tools/list`", "`ListTools`", "`handrail tools`"]) expect(denial.message).toContain(way);
  });

  test("which resembles none is answered with how to list them alone", async () => {
    const { message } = denialOf(await (await memoryKernel()).call("teleport", {}));
    expect(message).toMatch(/^no tool is named `teleport`; list the tools /);
  });
});

describe("a tool that is always denied", () => {
  const never = testTool("never", () => ({ kind: "data", data: {} }), { approval: { level: "always_deny" } });

  test("does not run where everything is waived, and nothing is intended", async () => {
    const { call, ledger } = await memoryKernel({ tools: [never], preset: "open" });
    expect(denialOf(await call("never", { path: "a" }))).toMatchObject({
      layer: "approval",
      reason: "tool_approval_denied",
      ruleId: "CAPABILITY:never",
    });
    expect(ledger.types()).toEqual(["tool_execution_denied"]);
  });

  test("is another thing than a tool that asks, which the same waiver opens", async () => {
    const asks = testTool("asks", () => ({ kind: "data", data: {} }), { approval: { level: "ask" } });
    const { call } = await memoryKernel({ tools: [asks], preset: "open" });
    expect((await call("asks", { path: "a" })).outcome.kind).toBe("success");
  });
});

describe("a configuration that cannot be used", () => {
  const DETAIL = "policy/own.cedar:3:7: the secret project phoenix is not an action";

  test.each([
    [
      "policy",
      "POLICY_INVALID",
      (kernel: MemoryKernel, error: Error) => (kernel.policy.current = () => Promise.reject(error)),
    ],
    ["settings", "CONFIG_INVALID", (kernel: MemoryKernel, error: Error) => kernel.breakWorkspace(error)],
  ] as const)(
    "of the operator (%s) is named to the agent without its detail, which the log has",
    async (_, code, breakIt) => {
      const kernel = await memoryKernel();
      const error = new KernelError(code, DETAIL);
      breakIt(kernel, error);
      const response = await kernel.call("read_file", { path: "a" });
      expect(denialOf(response)).toMatchObject({
        layer: "gates",
        reason: "tool_policy_invalid",
        ruleId: `CONFIG:${code.toLowerCase()}`,
      });
      expect(denialOf(response).message).toMatch(/^the operator's .* is not valid/);
      expect(JSON.stringify([response, kernel.ledger.events])).not.toContain("phoenix");
      expect(kernel.internalErrors).toEqual([error]);
    },
  );

  test("of the workspace is explained, because it is the agent's own file", async () => {
    const kernel = await memoryKernel();
    kernel.breakWorkspace(new KernelError("WORKSPACE_INVALID", "`handrail.yaml`: preset is not allowed here"));
    expect(denialOf(await kernel.call("read_file", { path: "a" }))).toMatchObject({
      ruleId: "CONFIG:workspace_invalid",
      message: expect.stringContaining("preset is not allowed here"),
    });
  });
});

describe("a store that fails", () => {
  test.each([
    ["STORE_UNAVAILABLE", true],
    ["STORE_CORRUPT", false],
  ] as const)("of sessions with %s says so and does not speak of a bug", async (code, retryable) => {
    const { call, sessions, internalErrors } = await memoryKernel();
    Object.assign(sessions, { findSession: () => Promise.reject(new KernelError(code, "/var/lib/private is gone")) });
    const response = await call("read_file", { path: "a" });
    expect(response.outcome).toMatchObject({ kind: "error", code, retryable });
    expect(JSON.stringify(response)).not.toContain("/var/lib/private");
    expect(internalErrors).toHaveLength(1);
  });

  test("of locks says so before anything is written, closes the intent and is logged", async () => {
    const { call, locks, ledger, internalErrors } = await memoryKernel();
    const cause = new KernelError("STORE_UNAVAILABLE", "locks.db cannot be opened");
    locks.acquire = () => Promise.reject(cause);
    expect((await call("write_file", { path: "a.txt", content: "" })).outcome).toMatchObject({
      kind: "error",
      code: "STORE_UNAVAILABLE",
    });
    expect(ledger.events.at(-1)).toMatchObject({
      type: "tool_executed",
      closes: 1,
      payload: { errorCode: "STORE_UNAVAILABLE" },
    });
    expect(internalErrors).toEqual([cause]);
  });
});

test("a tool that declares that it only reads cannot have an effect: an analysis that names one is refused", async () => {
  let runs = 0;
  const execute = () => {
    runs += 1;
    return { kind: "data", data: {} } as const;
  };
  const effects = (...named: readonly ("read" | "write" | "network")[]): Tool["analyse"] => {
    return () => named.map((effect) => ({ resource: { kind: "file", path: "a.txt" }, effect }));
  };
  const permits = ["writes", "connects", "honest"].map(
    (name) =>
      `@id("test.${name}")\n@message("m")\npermit (principal, action == Handrail::Action::"${name}", resource);\n`,
  );
  const tools = [
    testTool("writes", execute, { effect: "read" }, effects("read", "write")),
    testTool("connects", execute, { effect: "read" }, effects("network")),
    testTool("honest", execute, { effect: "read" }, effects("read")),
  ];
  const { call, ledger } = await memoryKernel({ tools, policies: permits.join("") });
  for (const name of ["writes", "connects"]) {
    const { outcome } = await call(name, { path: "a.txt" });
    expect(outcome).toMatchObject({
      kind: "denied",
      denial: { layer: "scope", reason: "permission_denied", ruleId: `ANALYSE:${name}` },
    });
  }
  expect([runs, ledger.of("tool_execution_denied").length]).toEqual([0, 2]);
  expect((await call("honest", { path: "a.txt" })).outcome).toMatchObject({ kind: "success" }); // control
});
