// Labels of results, and what they tell of the principal.
import { expect, test } from "vitest";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { labelResult } from "../../src/flow/labels.ts";

const read = {
  name: "read_file",
  capability: { effect: "read", labels: { outputTrust: "verified", outputDataClass: "internal" } },
} as const;
const bash = { name: "shell", capability: { effect: "exec", labels: { outputTrust: "user" } } } as const;
const none = { definite: 0, probable: 0 };

test("a result has its tool's label; a tool that says nothing is not trusted", () => {
  const source = { origin: "tool:read_file", timestamp: "1970-01-01T00:00:00.000Z" };
  expect(labelResult({ tool: read, mark: INITIAL_MARK, sources: [], found: none, nowMs: 0 })).toEqual({
    label: { trustLevel: "verified", dataClass: "internal", source },
    seen: { trustLevel: "verified", dataClass: "internal" },
  });
  const silent = { name: "read_file", capability: { effect: "read" } } as const;
  expect(labelResult({ tool: silent, mark: INITIAL_MARK, sources: [], found: none, nowMs: 0 }).label).toEqual({
    trustLevel: "untrusted",
    dataClass: "internal",
    source,
  });
});

test("a finding raises the label and not the mark: what was hidden was not seen", () => {
  const definite = labelResult({
    tool: read,
    mark: INITIAL_MARK,
    sources: [],
    found: { definite: 1, probable: 2 },
    nowMs: 0,
  });
  expect([definite.label.dataClass, definite.seen.dataClass]).toEqual(["secret", "internal"]);
  const probable = labelResult({
    tool: read,
    mark: INITIAL_MARK,
    sources: [],
    found: { definite: 0, probable: 1 },
    nowMs: 0,
  });
  expect([probable.label.dataClass, probable.seen.dataClass]).toEqual(["sensitive", "internal"]);
});

test("a finding never lowers a class", () => {
  const secret = { name: "x", capability: { effect: "read", labels: { outputDataClass: "secret" } } } as const;
  expect(
    labelResult({ tool: secret, mark: INITIAL_MARK, sources: [], found: { definite: 0, probable: 1 }, nowMs: 0 }).label
      .dataClass,
  ).toBe("secret");
});

test("what a command prints is trusted no further than what the principal has seen", () => {
  expect(labelResult({ tool: bash, mark: INITIAL_MARK, sources: [], found: none, nowMs: 0 }).label.trustLevel).toBe(
    "user",
  );
  expect(
    labelResult({
      tool: bash,
      mark: { trustLevel: "untrusted", dataClass: "internal" },
      sources: [],
      found: none,
      nowMs: 0,
    }).label.trustLevel,
  ).toBe("untrusted");
});

test("stored content passes its label on, to the result and to the mark", () => {
  const { label, seen } = labelResult({
    tool: read,
    mark: INITIAL_MARK,
    sources: [{ trustLevel: "untrusted", dataClass: "sensitive" }],
    found: none,
    nowMs: 0,
  });
  expect([label.trustLevel, label.dataClass]).toEqual(["untrusted", "sensitive"]);
  expect(seen).toEqual({ trustLevel: "untrusted", dataClass: "sensitive" });
});
