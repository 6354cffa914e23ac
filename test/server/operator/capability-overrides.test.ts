// What the operator changes of capabilities, and whether it is less than the tool declares.
import { expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import type { ToolCapability } from "../../../src/model/tool/capability.ts";
import {
  checkCapabilities,
  declaredTool,
  describeOverride,
  effectiveTools,
} from "../../../src/server/operator/capability-overrides.ts";
import { testTool } from "../../support/memory-kernel.ts";

const FETCH: Partial<ToolCapability> = {
  effect: "network",
  approval: {
    level: "ask",
    dangerPatterns: [/rm/],
    conditions: { methodRequiresApproval: ["POST"], unknownHostRequiresApproval: true },
  },
  network: { mode: "allowlist", allowedHosts: ["a.example"], blockedPorts: [22] },
  requiredRole: "dev",
};
const tool = (more: Partial<ToolCapability> = FETCH) => testTool("fetch", () => ({ kind: "data", data: {} }), more);

const settingsOf = (override: object) =>
  parseSettings(JSON.stringify({ capabilities: { fetch: override } }), "handrail.yaml");
const overridesOf = async (override: object, more?: Partial<ToolCapability>) =>
  effectiveTools([tool(more)], await settingsOf(override));

test.each<readonly [object, readonly string[], readonly string[]]>([
  // The override; what it changes and tightens; what it changes and loosens.
  [{ approval: "always_deny" }, ["approval"], []],
  [{ approval: "auto" }, [], ["approval"]],
  [{ approval: "ask" }, [], []],
  [{ requires_arming: true }, ["requires_arming"], []],
  [{ requires_arming: false }, [], []],
  [{ required_role: "sre" }, [], ["required_role"]],
  [{ required_role: null }, [], ["required_role"]],
  [{ danger_patterns: ["/rm/", "mkfs"] }, ["danger_patterns"], []],
  [{ danger_patterns: ["mkfs"] }, [], ["danger_patterns"]],
  [{ danger_patterns: [] }, [], ["danger_patterns"]],
  [{ method_requires_approval: ["POST", "PUT"] }, ["method_requires_approval"], []],
  [{ method_requires_approval: [] }, [], ["method_requires_approval"]],
  [{ unknown_host_requires_approval: false }, ["unknown_host_requires_approval"], []],
  [
    { unknown_host_requires_approval: false, network_mode: "any" },
    [],
    ["unknown_host_requires_approval", "network_mode"],
  ],
  [{ network_mode: "none" }, ["network_mode"], []],
  [{ network_mode: "any" }, [], ["network_mode"]],
  [{ allowed_hosts: [] }, ["allowed_hosts"], []],
  [{ allowed_hosts: ["a.example", "*.b.example"] }, [], ["allowed_hosts"]],
  [{ allowed_providers: [] }, ["allowed_providers"], []],
  [{ allowed_providers: ["x"] }, [], ["allowed_providers"]],
  [{ blocked_ports: [22, 25] }, ["blocked_ports"], []],
  [{ blocked_ports: [25] }, [], ["blocked_ports"]],
  [{ block_private_ips: true }, [], []],
  [
    { block_private_ips: false, block_metadata_endpoints: false },
    [],
    ["block_private_ips", "block_metadata_endpoints"],
  ],
  [{ log_args: true }, [], ["log_args"]],
  [{}, [], []],
])("%j tightens %j and loosens %j", async (override, tightened, loosened) => {
  const { overridden } = await overridesOf(override);
  const changes = overridden.flatMap((one) => one.changes);
  expect(changes.filter(({ loosens }) => !loosens).map(({ key }) => key)).toEqual(tightened);
  expect(changes.filter(({ loosens }) => loosens).map(({ key }) => key)).toEqual(loosened);
});

test("what is not named stays as the tool declares it", async () => {
  const [changed] = (await overridesOf({ approval: "auto" })).tools;
  expect(changed?.capability).toEqual({
    ...tool().capability,
    approval: { ...tool().capability.approval, level: "auto" },
  });
  const declared = tool();
  const kept = effectiveTools([declared], await settingsOf({ approval: "ask" }));
  expect(kept).toEqual({ tools: [declared], overridden: [] });
  expect(kept.tools[0]).toBe(declared);
});

test("an overridden tool is the tool itself in everything else, private members included", async () => {
  class Counter {
    #count = 0;
    readonly name = "fetch";
    readonly title = "t";
    readonly description = "d";
    readonly parameters = tool().parameters;
    readonly capability = tool().capability;
    analyse() {
      this.#count += 1;
      return [{ resource: { kind: "tool", name: String(this.#count) }, effect: "network" } as const];
    }
    execute() {
      return { kind: "data", data: {} } as const;
    }
  }
  const counter = new Counter();
  const [changed] = effectiveTools([counter], await settingsOf({ approval: "auto" })).tools;
  if (changed === undefined) throw new Error("there is no tool");
  expect(changed.analyse({})).toEqual([{ resource: { kind: "tool", name: "1" }, effect: "network" }]);
  expect(changed.name).toBe("fetch");
  expect(declaredTool(changed)).toBe(counter);
  expect(declaredTool(counter)).toBe(counter);
});

test("network rules that begin with an override keep to its list", async () => {
  const [changed] = (await overridesOf({ allowed_hosts: ["a.example"] }, { effect: "network" })).tools;
  expect(changed?.capability.network).toEqual({ mode: "allowlist", allowedHosts: ["a.example"] });
});

test("an override is described with what was and what is", async () => {
  const { overridden } = await overridesOf({ approval: "auto", requires_arming: true });
  expect(overridden.map(describeOverride)).toEqual([
    '`fetch`: approval "ask" → "auto" (loosened), requires_arming false → true',
  ]);
});

test.each<readonly [object, RegExp]>([
  [{ danger_patterns: ["(?=a)"] }, /capabilities\.fetch\.danger_patterns: pattern 1: look-around/],
  [{ danger_patterns: ["a", "(b)\\1"] }, /pattern 2: a back-reference/],
])("%j is refused when the settings are loaded", async (override, problem) => {
  const settings = await settingsOf(override);
  expect(() => checkCapabilities(settings, "handrail.yaml")).toThrow(problem);
});

test.each<readonly [object, RegExp]>([
  [{ required_role: "nobody" }, /capabilities\.fetch\.required_role: the role `nobody` is not defined/],
  [{ aproval: "ask" }, /capabilities\.fetch: unrecognized key: "aproval"/],
  [{ approval: "never" }, /capabilities\.fetch\.approval/],
  [{ danger_patterns: ["("] }, /capabilities\.fetch\.danger_patterns\.0: must be a regular expression/],
  [{ allowed_hosts: ["https://a.example/"] }, /capabilities\.fetch\.allowed_hosts\.0: must be a host/],
  [{ blocked_ports: [0] }, /capabilities\.fetch\.blocked_ports\.0/],
])("%j is refused by its shape", async (override, problem) => {
  await expect(settingsOf(override)).rejects.toThrow(problem);
});
