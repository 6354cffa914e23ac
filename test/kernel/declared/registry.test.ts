// The registry: unique names, stable order and hash, schemas that let nothing unknown through.
import { expect, test } from "vitest";
import * as z from "zod";
import { ToolRegistry } from "../../../src/kernel/declared/registry.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  title: name,
  description: `does ${name}`,
  parameters: z.strictObject({ path: z.string() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" } },
  analyse: () => [],
  execute: () => ({ kind: "data", data: {} }),
  ...more,
});

const registryOf = (...tools: readonly Tool[]) => {
  const registry = new ToolRegistry();
  for (const entry of tools) registry.register(entry);
  return registry;
};

test("a registered tool is found by its name", () => {
  const one = tool("one");
  expect(registryOf(one).get("one")).toBe(one);
  expect(registryOf(one).get("two")).toBeUndefined();
});

test("a name is registered once", () => {
  expect(() => registryOf(tool("one"), tool("one"))).toThrow(/already registered/);
});

test.each(["", "One", "1one", "a-b", "a b", "a".repeat(65)])("the name `%s` is refused", (name) => {
  expect(() => registryOf(tool(name))).toThrow(/must match/);
});

test("tools are listed in the same order however they were registered", () => {
  const names = (...order: readonly string[]) =>
    registryOf(...order.map((name) => tool(name)))
      .getToolDefinitions()
      .map((definition) => definition.name);
  expect(names("b", "a", "c")).toEqual(["a", "b", "c"]);
  expect(names("c", "b", "a")).toEqual(["a", "b", "c"]);
});

test("the hash depends on what the tools are, not on the order of registration", () => {
  expect(registryOf(tool("a"), tool("b")).hash()).toBe(registryOf(tool("b"), tool("a")).hash());
  expect(registryOf(tool("a")).hash()).not.toBe(registryOf(tool("a", { description: "else" })).hash());
});

test("a schema that lets unknown properties through is refused", () => {
  expect(() => registryOf(tool("a", { parameters: z.looseObject({}) }))).toThrow(/unknown properties/);
  expect(() => registryOf(tool("a", { parameters: z.string() }))).toThrow(/unknown properties/);
});

test("a danger pattern that could be slow is refused, others are part of the hash", () => {
  const asking = (pattern: RegExp) =>
    tool("a", { capability: { ...tool("a").capability, approval: { level: "auto", dangerPatterns: [pattern] } } });
  expect(() => registryOf(asking(/(a)\1/))).toThrow(
    "danger patterns of `a` are refused: pattern 1: a back-reference has no linear-time equal",
  );
  const hashes = [/rm/, /rm/i, /cp/].map((pattern) => registryOf(asking(pattern)).hash());
  expect(new Set(hashes).size).toBe(3);
});

test("an empty list of dangerous patterns asks for nothing", () => {
  const capability = { ...tool("a").capability, approval: { level: "auto", dangerPatterns: [] } } as const;
  expect(registryOf(tool("a", { capability })).getAll()).toHaveLength(1);
});

test("output is never logged", () => {
  const audit = { logOutput: true } as unknown as NonNullable<Tool["capability"]["audit"]>;
  expect(() => registryOf(tool("a", { capability: { ...tool("a").capability, audit } }))).toThrow(/never logged/);
});
