// Flow control: what the principal has seen decides what may leave, cell by cell.
import fc from "fast-check";
import { expect, test } from "vitest";
import { flowObligations, INITIAL_MARK, judgeFlow } from "../../src/flow/flow.ts";
import { combineMarks, DATA_CLASSES, type Mark, TRUST_LEVELS } from "../../src/model/outcome/label.ts";
import type { Access } from "../../src/model/place/access.ts";
import type { ToolCapability } from "../../src/model/tool/capability.ts";
import { isKnownHost } from "../../src/names/host.ts";

const file: Access = { resource: { kind: "file", path: "a" }, effect: "write" };
const known: Access = { resource: { kind: "host", host: "api.github.com", port: 443 }, effect: "network" };
const unknown: Access = { resource: { kind: "host", host: "example.com", port: 443 }, effect: "network" };
const model: Access = { resource: { kind: "model", provider: "p", model: "m" }, effect: "network" };
const fetches: ToolCapability = {
  effect: "network",
  risk: "medium",
  approval: { level: "auto" },
  network: { mode: "allowlist", allowedHosts: ["*.github.com"] },
};
const writes: ToolCapability = { effect: "write", risk: "low", approval: { level: "auto" } };
const seen = (dataClass: Mark["dataClass"], trustLevel: Mark["trustLevel"] = "user"): Mark => ({
  trustLevel,
  dataClass,
});

/** What flow control says: a denial's reason, or the rules that ask. */
function judged(mark: Mark, capability: ToolCapability, access: Access): string {
  const verdict = judgeFlow(mark, capability, [access]);
  if (!verdict.ok) return verdict.denial.reason;
  const due = flowObligations(mark, capability, access);
  return due.length === 0 ? "goes" : due.map(({ obligation, ruleId }) => `${obligation} ${ruleId}`).join(", ");
}

test.each([
  ["public", "goes", "goes"],
  ["internal", "goes", "ask FC-2"],
  ["sensitive", "ask FC-2", "flow_sensitive_egress"],
  ["secret", "flow_secret_egress", "flow_secret_egress"],
] as const)("FC-2: what is %s to a known host: %s, to an unknown one: %s", (dataClass, toKnown, toUnknown) => {
  expect(judged(seen(dataClass), fetches, known)).toBe(toKnown);
  expect(judged(seen(dataClass), fetches, unknown)).toBe(toUnknown);
  expect(judged(seen(dataClass), { ...fetches, network: { mode: "any" } }, known)).toBe(toUnknown);
});

test.each([
  ["internal", "goes", "goes"],
  ["sensitive", "goes", "flow_sensitive_egress"],
  ["secret", "flow_secret_egress", "flow_secret_egress"],
] as const)(
  "FC-2: a host that is only asked what it has is no question when %s was seen (known: %s, unknown: %s)",
  (dataClass, toKnown, toUnknown) => {
    expect(judged(seen(dataClass), fetches, { ...known, sendsNothing: true })).toBe(toKnown);
    expect(judged(seen(dataClass), fetches, { ...unknown, sendsNothing: true })).toBe(toUnknown);
  },
);

test.each([
  ["public", "goes", "goes", "goes"],
  ["internal", "ask FC-2", "goes", "ask FC-2"],
  ["sensitive", "ask FC-2", "ask FC-2", "flow_sensitive_egress"],
  ["secret", "flow_secret_egress", "flow_secret_egress", "flow_secret_egress"],
] as const)(
  "FC-2: what is %s to a model where no provider is named: %s, to a named one: %s, to another: %s",
  (dataClass, open, named, other) => {
    const naming = (allowedProviders: readonly string[]): ToolCapability => ({
      ...fetches,
      network: { mode: "any", allowedProviders },
    });
    expect(judged(seen(dataClass), fetches, model)).toBe(open);
    expect(judged(seen(dataClass), { ...fetches, network: { mode: "any", allowedHosts: ["p", "m"] } }, model)).toBe(
      open,
    );
    expect(judged(seen(dataClass), naming(["p"]), model)).toBe(named);
    for (const providers of [["q"], ["P"], ["m"], []])
      expect(judged(seen(dataClass), naming(providers), model)).toBe(other);
  },
);

test("a file access does not leave, whatever was seen", () => {
  for (const dataClass of DATA_CLASSES) expect(judged(seen(dataClass), writes, file)).toBe("goes");
});

test("an access with the effect network leaves although its tool says it only writes", () => {
  expect(judged(seen("secret"), writes, { resource: { kind: "tool", name: "x" }, effect: "network" })).toBe(
    "flow_secret_egress",
  );
});

test.each([
  ["exec", "ask FC-3"],
  ["system", "ask FC-3"],
  ["write", "goes"],
  ["read", "goes"],
] as const)("FC-3: after untrusted content a tool with the effect %s: %s", (effect, expected) => {
  const capability: ToolCapability = { ...writes, effect };
  expect(judged(seen("internal", "untrusted"), capability, file)).toBe(expected);
  expect(judged(seen("internal", "verified"), capability, file)).toBe("goes");
});

test("FC-3: a tool that accepts untrusted content is not asked about, one that refuses it asks, and does not execute", () => {
  const untrusted = seen("internal", "untrusted");
  const saying = (effect: "write" | "exec", acceptsUntrusted: boolean): ToolCapability => ({
    ...writes,
    effect,
    labels: { acceptsUntrusted },
  });
  expect(judged(untrusted, saying("exec", true), file)).toBe("goes");
  expect(judged(untrusted, saying("write", false), file)).toBe("ask FC-3");
  expect(judged(untrusted, saying("exec", false), file)).toBe("flow_untrusted_exec");
});

test("both rules ask when both have a reason", () => {
  expect(judged(seen("internal", "untrusted"), fetches, unknown)).toBe("ask FC-2, ask FC-3");
});

test("a call without accesses is judged by its tool", () => {
  expect(judgeFlow(seen("secret"), fetches, []).ok).toBe(true);
  expect(flowObligations(seen("internal", "untrusted"), fetches, undefined)).toEqual([
    { obligation: "ask", ruleId: "FC-3" },
  ]);
});

test("seeing more never makes anything freer", () => {
  const marks = fc.record({
    trustLevel: fc.constantFrom(...TRUST_LEVELS),
    dataClass: fc.constantFrom(...DATA_CLASSES),
  });
  const strictness = (answer: string) => (answer === "goes" ? 0 : answer.startsWith("ask") ? 1 : 2);
  fc.assert(
    fc.property(
      marks,
      marks,
      fc.constantFrom(known, unknown, model, file),
      fc.constantFrom(fetches, writes),
      (a, b, access, tool) => {
        expect(strictness(judged(combineMarks(a, b), tool, access))).toBeGreaterThanOrEqual(
          strictness(judged(a, tool, access)),
        );
      },
    ),
  );
  expect(judged(INITIAL_MARK, writes, file)).toBe("goes");
});

test("a pattern with a star names subdomains and not the apex", () => {
  const patterns = ["*.github.com", "registry.npmjs.org"];
  const hosts = [
    "api.github.com",
    "API.GitHub.com.",
    "a.b.github.com",
    "github.com",
    "evilgithub.com",
    "registry.npmjs.org",
    "x.registry.npmjs.org",
  ];
  expect(hosts.filter((host) => isKnownHost(host, patterns))).toEqual([
    "api.github.com",
    "API.GitHub.com.",
    "a.b.github.com",
    "registry.npmjs.org",
  ]);
});
