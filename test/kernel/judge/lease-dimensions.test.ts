/**
 * Every dimension of a lease is enforced: what it admits goes, what it does not is refused, what cannot be judged by it
 * too.
 */

import { expect, test } from "vitest";
import type { EffectClass } from "../../../src/model/outcome/effect.ts";
import type { LeaseScope } from "../../../src/model/people/lease.ts";
import type { Access, Resource } from "../../../src/model/place/access.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import type { PolicyVerdict } from "../../../src/policy/terms/verdict.ts";
import { type MemoryKernel, memoryKernel, testTool } from "../../support/memory-kernel.ts";

/** Allows everything: what refuses here is the lease. */
const ALLOWS: PolicyVerdict = { decision: "allow", permits: ["test.all"], obligations: [], waived: [] };

const host = (name: string): Resource => ({ kind: "host", host: name, port: 443 });
const command = (binary: string): Resource => commandOf([binary, "x"]);
const push: Resource = { kind: "git_ref", remote: "origin", ref: "main", operation: "push" };

async function kernelOf(
  accesses: readonly Access[],
  scope: Partial<LeaseScope>,
  effect: EffectClass,
): Promise<MemoryKernel> {
  const reach = testTool(
    "reach",
    () => ({ kind: "data", data: {} }),
    { effect },
    () => accesses,
  );
  const kernel = await memoryKernel({ tools: [reach], scope });
  const engine = await kernel.policy.current();
  kernel.policy.current = async () => ({ ...engine, evaluate: () => ALLOWS });
  return kernel;
}

function ended({ outcome }: CallResponse): string {
  if (outcome.kind === "denied") return outcome.denial.reason;
  return outcome.kind === "error" ? outcome.code : "goes";
}

async function reached(resource: Resource, effect: EffectClass, scope: Partial<LeaseScope>): Promise<string> {
  return ended(await (await kernelOf([{ resource, effect }], scope, effect)).call("reach", { path: "a" }));
}

const CASES: readonly (readonly [keyof LeaseScope, Resource, EffectClass, string, string])[] = [
  ["hosts", host("good.example"), "network", "good.example", "other.example"],
  ["hosts", host("api.Good.example."), "network", "*.good.example", "good.example"],
  ["hosts", host("good.example"), "read", "good.example", "*.good.example"],
  ["commands", command("ls"), "exec", "ls", "rm"],
  ["gitOperations", push, "write", "push", "fetch"],
  ["providers", { kind: "model", provider: "local", model: "small" }, "network", "local", "far"],
  ["models", { kind: "model", provider: "local", model: "small" }, "network", "small", "large"],
  ["tools", { kind: "tool", name: "reach" }, "write", "reach", "other"],
  ["artifacts", { kind: "artifact", id: "report" }, "read", "report", "diary"],
];

test.each(CASES)("%s: an access is judged by the lease", async (dimension, resource, effect, admitting, refusing) => {
  expect(await reached(resource, effect, {})).toBe("goes"); // the control: nothing else stands in its way
  expect(await reached(resource, effect, { [dimension]: [[admitting]] })).toBe("goes");
  expect(await reached(resource, effect, { [dimension]: [["*"]] })).toBe("goes");
  expect(await reached(resource, effect, { [dimension]: [[refusing]] })).toBe("lease_scope");
  expect(await reached(resource, effect, { [dimension]: [[admitting], [refusing]] })).toBe("lease_scope");
  expect(await reached(resource, effect, { [dimension]: [[]] })).toBe("lease_scope");
});

test("a tool resource that names another tool is judged by `tools`", async () => {
  expect(await reached({ kind: "tool", name: "other" }, "write", { tools: [["reach", "other"]] })).toBe("goes");
  expect(await reached({ kind: "tool", name: "other" }, "write", { tools: [["reach"]] })).toBe("lease_scope");
});

test.each([
  [
    "a git reference without its operation",
    { kind: "git_ref", ref: "main" },
    "write",
    { gitOperations: [["fetch", "*"]] },
  ],
  ["a tool resource that executes", { kind: "tool", name: "reach" }, "exec", { commands: [["*"]] }],
  ["a tool resource that reaches the network", { kind: "tool", name: "reach" }, "network", { hosts: [["*"]] }],
  ["a git reference that reaches the network without a host", push, "network", { hosts: [["*"]] }],
  ["a command with the effect network", command("curl"), "network", { hosts: [["*"]] }],
] as const)("%s cannot be judged where the lease restricts it, and is refused", async (_, resource, effect, scope) => {
  expect(await reached(resource, effect, {})).toBe("goes");
  expect(await reached(resource, effect, scope)).toBe("lease_scope");
});

test.each([
  ["exec", "commands", command("ls"), "exec"],
  ["network", "hosts", host("good.example"), "network"],
] as const)(
  "a tool with the effect %s that names no such access is refused where `%s` are restricted",
  async (effect, dimension, named, by) => {
    const call = async (accesses: readonly Access[], scope: Partial<LeaseScope>) =>
      ended(await (await kernelOf(accesses, scope, effect)).call("reach", { path: "a" }));
    const file: Access = { resource: { kind: "file", path: "a" }, effect: "read" };
    for (const accesses of [[], [file]]) {
      expect(await call(accesses, {})).toBe("goes");
      expect(await call(accesses, { [dimension]: [["*"]] })).toBe("lease_scope");
    }
    expect(await call([file, { resource: named, effect: by }], { [dimension]: [["*"]] })).toBe("goes");
  },
);

test("a git reference goes over the network through a host that stands beside it and is covered", async () => {
  const call = async (name: string) => {
    const accesses: readonly Access[] = [
      { resource: push, effect: "network" },
      { resource: host(name), effect: "network" },
    ];
    const kernel = await kernelOf(accesses, { hosts: [["good.example"]], gitOperations: [["push"]] }, "network");
    return ended(await kernel.call("reach", { path: "a" }));
  };
  expect(await call("good.example")).toBe("goes");
  expect(await call("evil.example")).toBe("lease_scope");
});

test("the denial says what the lease lacks, however long its name is", async () => {
  const denialOf = async (resource: Resource, scope: Partial<LeaseScope>) => {
    const { outcome } = await (await kernelOf([{ resource, effect: "exec" }], scope, "exec")).call("reach", {
      path: "a",
    });
    return outcome.kind === "denied" ? outcome.denial : undefined;
  };
  expect(await denialOf(command("rm"), { commands: [["ls"]] })).toMatchObject({
    ruleId: "LEASE:lea_test",
    message: "the lease does not cover the command `rm`",
    fix: "a lease whose commands include `rm`",
  });
  const { command: _recorded, ...told } = (await denialOf(command("r".repeat(100_000)), { commands: [["ls"]] })) ?? {};
  expect(JSON.stringify(told).length).toBeLessThan(1000);
  expect(await denialOf({ kind: "tool", name: "reach" }, { commands: [["ls"]] })).toMatchObject({
    fix: "a lease that does not restrict commands",
  });
});
