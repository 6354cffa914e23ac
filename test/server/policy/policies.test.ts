// Loading policy: a tool that is not built in is foreign; a failure that may pass is not remembered.
import { expect, test } from "vitest";
import { defaultSettings } from "../../../src/config/config.ts";
import { BUILT_IN_TOOLS } from "../../../src/server/operator/built-in-tools.ts";
import { policyActions } from "../../../src/server/policy/policies.ts";
import { PolicyCatalog } from "../../../src/server/policy/policy-catalog.ts";
import { MemoryLedger, testTool } from "../../support/memory-kernel.ts";

const inputs = (policies: readonly { name: string; text: string }[] = []) => {
  const settings = defaultSettings();
  return {
    tools: BUILT_IN_TOOLS,
    operator: { path: "/nowhere", exists: true, settings, policies },
  };
};

test("every tool that is not built in is foreign, and no built-in one is", () => {
  const foreign = policyActions([...BUILT_IN_TOOLS, testTool("theirs", () => ({ kind: "data", data: {} }))]).filter(
    (action) => action.foreign,
  );
  expect(foreign.map(({ name }) => name)).toEqual(["theirs"]);
});

test("an engine whose loading could not be recorded is refused, and recorded with the next call", async () => {
  const ledger = new MemoryLedger();
  const catalog = new PolicyCatalog(inputs(), ledger, () => 0).engine;
  ledger.breakFor(({ type }) => type === "policy_loaded");
  await expect(catalog("dev")).rejects.toThrow("the disk is full");
  ledger.before = () => undefined;
  const engine = await catalog("dev");
  expect(await catalog("dev")).toBe(engine);
  expect(ledger.types()).toEqual(["policy_loaded"]);
});

test("policies that are not valid are judged once", async () => {
  const catalog = new PolicyCatalog(
    inputs([{ name: "own.cedar", text: "permit (principal" }]),
    new MemoryLedger(),
    () => 0,
  ).engine;
  const first = catalog("dev");
  await expect(first).rejects.toThrow();
  expect(catalog("dev")).toBe(first);
});
