// Labels of results, and that nothing leaves which could not be judged.
import { expect, test } from "vitest";
import { checkFlow, labelResult } from "./flow.ts";

test("a file access stays in the workspace", () => {
  expect(checkFlow([{ resource: { kind: "file", path: "a" }, effect: "write" }])).toEqual({ ok: true, value: undefined });
});

test.each([
  [{ resource: { kind: "host", host: "example.com", port: 443 }, effect: "read" }],
  [{ resource: { kind: "tool", name: "web_fetch" }, effect: "network" }],
] as const)("an access that leaves is refused (FC-2)", (access) => {
  const verdict = checkFlow([access]);
  expect(verdict.ok ? "allowed" : [verdict.denial.ruleId, verdict.denial.reason, verdict.denial.layer]).toEqual([
    "FC-2",
    "flow_sensitive_egress",
    "flow",
  ]);
});

test("a result has its tool's label; a tool that says nothing is not trusted", () => {
  const source = { origin: "tool:read_file", timestamp: "1970-01-01T00:00:00.000Z" };
  expect(labelResult({ outputTrust: "verified", outputDataClass: "internal" }, "read_file", 0, 0)).toEqual({
    trustLevel: "verified",
    dataClass: "internal",
    source,
  });
  expect(labelResult(undefined, "read_file", 0, 0)).toEqual({ trustLevel: "untrusted", dataClass: "internal", source });
});

test("a secret that was found makes the result secret", () => {
  expect(labelResult({ outputDataClass: "public" }, "read_file", 1, 0).dataClass).toBe("secret");
});
