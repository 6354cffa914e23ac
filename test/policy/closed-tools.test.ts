// What presets are known to refuse without their engine: never more than the engine refuses.
import { expect, test } from "vitest";
import { PRESET_NAMES } from "../../src/model/people/preset.ts";
import { BUILT_IN_ROLES } from "../../src/model/people/role.ts";
import { commandOf } from "../../src/model/place/command.ts";
import type { Zone } from "../../src/model/place/zone.ts";
import { isClosed } from "../../src/policy/closed-tools.ts";
import type { PolicyResource } from "../../src/policy/policy.ts";
import { fileTools } from "../../src/tools/file/file-tools.ts";
import { searchTools } from "../../src/tools/search/search-tools.ts";
import { ACTIONS, engineOf, file, presetSources, request } from "../support/policy-fixtures.ts";

const ZONES: readonly Zone[] = ["own", "protected", "shared"];

test("what a product owner may read documents with is not closed to that role", async () => {
  const engine = await engineOf(presetSources("dev"));
  const reading = [...fileTools, ...searchTools].filter(({ capability }) => capability.effect === "read");
  expect(reading.length).toBeGreaterThanOrEqual(4);
  for (const { name: action } of reading) {
    const asked = request({ role: "product_owner", action, effect: "read", resource: DOCUMENT });
    const isPermitted = engine.evaluate(asked).decision === "allow";
    expect([action, isClosed("dev", "product_owner", { name: action, effect: "read" })]).toEqual([
      action,
      !isPermitted,
    ]);
  }
});

const DOCUMENT: PolicyResource = { kind: "file", path: "docs/plan.md", root: "service", zone: "own" };

test("the engine refuses every use of a tool that is known to be closed", { timeout: 120_000 }, async () => {
  const closed = new Set<string>();
  for (const preset of PRESET_NAMES) {
    const engine = await engineOf(presetSources(preset));
    for (const { name: action, effect } of ACTIONS.filter(({ name }) => !name.includes(":")))
      for (const role of BUILT_IN_ROLES) {
        if (!isClosed(preset, role, { name: action, effect })) continue;
        closed.add(`${preset} ${role} ${action}`);
        const resources: readonly PolicyResource[] = [
          ...ZONES.map((zone) => file(zone)),
          { kind: "tool", name: action },
          commandOf(["ls"]),
        ];
        // Each call has an access with the tool's own effect, so that its refusal is the call's.
        for (const resource of resources) {
          const { decision } = engine.evaluate(request({ role, action, effect, resource }));
          expect([preset, role, action, resource.kind, decision]).toEqual([
            preset,
            role,
            action,
            resource.kind,
            "deny",
          ]);
        }
      }
  }
  for (const one of [
    "reader dev write_file",
    "reader dev shell",
    "autonomous dev merge_branch",
    "dev product_owner shell",
  ])
    expect(closed).toContain(one);
  for (const one of ["dev dev shell", "reader dev read_file", "autonomous dev shell", "dev product_owner read_file"])
    expect(closed).not.toContain(one);
});
