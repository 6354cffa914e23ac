// Policies that were found valid are not validated again; anything that differs is, and bad ones are never remembered.
import { expect, test } from "vitest";
import { createPolicyEngine, type ValidatedPolicies } from "../../src/policy/policy.ts";
import { ACTIONS, presetSources, ROLES } from "../support/policy-fixtures.ts";

function remembering() {
  const keys = new Set<string>();
  const asked: string[] = [];
  const validated: ValidatedPolicies = {
    has: (key) => {
      asked.push(key);
      return keys.has(key);
    },
    remember: (key) => void keys.add(key),
  };
  return { keys, asked, validated };
}

const wrong = {
  name: "wrong.cedar",
  origin: "operator",
  text: '@id("wrong") permit (principal, action, resource) when { principal.nothing };',
} as const;

test("the same policies are remembered once, under the engine's version and their hash", async () => {
  const { keys, asked, validated } = remembering();
  const options = { actions: ACTIONS, sources: presetSources("dev"), roles: ROLES, validated };
  const first = await createPolicyEngine(options);
  const second = await createPolicyEngine(options);
  expect(first.hash).toBe(second.hash);
  expect([...keys]).toEqual([asked[0]]);
  expect(asked[0]).toMatch(/^\d+\.\d+\.\d+ blake3:[0-9a-f]{64}$/);
});

test("policies that are not valid are refused and not remembered", async () => {
  const { keys, validated } = remembering();
  const options = { actions: ACTIONS, sources: [...presetSources("dev"), wrong], roles: ROLES, validated };
  await expect(createPolicyEngine(options)).rejects.toMatchObject({ code: "POLICY_INVALID" });
  expect(keys.size).toBe(0);
});

test("a change of one character asks for another validation", async () => {
  const { keys, validated } = remembering();
  const [base, ...rest] = presetSources("dev");
  if (!base) throw new Error("there is no base preset");
  await createPolicyEngine({ actions: ACTIONS, sources: [base, ...rest], roles: ROLES, validated });
  await createPolicyEngine({
    actions: ACTIONS,
    sources: [{ ...base, text: `${base.text}\n` }, ...rest],
    roles: ROLES,
    validated,
  });
  expect(keys.size).toBe(2);
});
