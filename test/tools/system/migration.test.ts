// Migrations of texts: what is named changes, everything else means what it meant.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse as parsedYaml } from "yaml";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { ListedConfig, MigrationStep } from "../../../src/model/work/system.ts";
import { migrated } from "../../../src/tools/system/migration.ts";

const listed = (path: string, ...steps: readonly MigrationStep[]): ListedConfig => ({
  path,
  version: ["version"],
  migrations: [{ from: 1, to: 2, steps }],
});

function problem(config: ListedConfig, text: string, target = "2"): string {
  try {
    return migrated(config, text, target).text;
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    throw error;
  }
}

describe("each step", () => {
  const before = '{\n    "version": 1,\n    "a": { "b": [1, "x"] },\n    "keep": null\n}\n';
  const cases: readonly (readonly [string, MigrationStep, object])[] = [
    [
      "renames",
      { kind: "rename", from: ["a", "b"], to: ["c", "d", "e"] },
      { version: 2, a: {}, keep: null, c: { d: { e: [1, "x"] } } },
    ],
    [
      "renames nothing where there is nothing",
      { kind: "rename", from: ["a", "none"], to: ["c"] },
      { version: 2, a: { b: [1, "x"] }, keep: null },
    ],
    [
      "sets",
      { kind: "set", member: ["keep"], value: { on: true } },
      { version: 2, a: { b: [1, "x"] }, keep: { on: true } },
    ],
    [
      "leaves what is there to its own",
      { kind: "default", member: ["keep"], value: 1 },
      { version: 2, a: { b: [1, "x"] }, keep: null },
    ],
    [
      "gives what is missing",
      { kind: "default", member: ["new", "one"], value: 1 },
      { version: 2, a: { b: [1, "x"] }, keep: null, new: { one: 1 } },
    ],
    ["removes", { kind: "remove", member: ["a"] }, { version: 2, keep: null }],
    [
      "removes nothing where there is nothing",
      { kind: "remove", member: ["a", "b", "c"] },
      { version: 2, a: { b: [1, "x"] }, keep: null },
    ],
  ];
  test.each(cases)("%s, in JSON and in YAML", (_what, step, after) => {
    const json = migrated(listed("a.json", step), before, "2");
    expect(JSON.parse(json.text)).toEqual(after);
    expect(json.text).toMatch(/^\{\n {4}"version": 2/); // as it was indented
    const yaml = migrated(listed("a.yaml", step), before, "2");
    expect(parsedYaml(yaml.text)).toEqual(after);
    expect(migrated(listed("a.yaml"), yaml.text, "2")).toEqual({ from: "2", versions: [], text: yaml.text });
  });
});

test.each([
  ["a.json", '{"version": 1, "version": 1}', "not valid JSON"],
  ["a.json", '{"version": 1, "big": 9007199254740993}', "cannot be kept exactly"],
  ["a.json", "[1]", "does not hold an object"],
  ["a.json", '{"version": {"n": 1}}', "does not say its version"],
  ["a.json", '{"version": 1, "x": 5}', "something else than members"],
  ["a.yaml", "version: 1\nx: 5\n", "something else than members"],
  ["a.yaml", "version: 1\nversion: 1\n", "not valid YAML"],
  ["a.yaml", "version: 1\n---\nversion: 1\n", "not valid YAML"],
  ["a.yaml", "version: 1\nb: &b { c: 1 }\nx: *b\n", "uses aliases"],
])("%s with %j is refused: %s", (path, text, why) => {
  expect(problem(listed(path, { kind: "set", member: ["x", "y"], value: 1 }), text)).toContain(why);
});

test("a circle of versions, and a version that nothing leads to, end", () => {
  const circle: ListedConfig = {
    ...listed("a.json"),
    migrations: [
      { from: 1, to: 2, steps: [] },
      { from: 2, to: 1, steps: [] },
    ],
  };
  expect(problem(circle, '{"version": 1}', "3")).toContain("from which nothing leads to `3`");
});

test("a step that undoes the version is found before anything is written", () => {
  const config: ListedConfig = {
    ...listed("a.json"),
    version: ["v", "n"],
    migrations: [{ from: 1, to: "2", steps: [{ kind: "remove", member: ["v"] }] }],
  };
  // the version is set after the steps
  expect(JSON.parse(problem(config, '{"v": {"n": 1, "m": 0}}'))).toEqual({ v: { n: "2" } });
});

test("numbers of YAML stay as they are written, and say what is set when they are changed", () => {
  const kept = [
    "12345678901234567890",
    "0.12345678901234567890123",
    "0755",
    "010",
    "0x1F",
    "0o14",
    "1e3",
    "1.10",
    ".5",
    "+1",
    "-0",
    ".inf",
    "1_000",
  ];
  const text = kept.map((number, index) => `n${index}: ${number}\n`).join("");
  const steps: readonly MigrationStep[] = [
    { kind: "set", member: ["port"], value: 8080 },
    { kind: "rename", from: ["n0"], to: ["renamed"] },
  ];
  const after = migrated(listed("a.yaml", ...steps), `version: 1\nport: 080\n${text}`, "2").text;
  expect(after).toBe(`version: 2\nport: 8080\n${text.replace(/^n0: .*\n/, "")}renamed: ${kept[0]}\n`);
});

test("whatever else a file holds is the same afterwards, in both formats", () => {
  const key = fc.stringMatching(/^[a-z]{1,6}$/).filter((name) => name !== "version" && name !== "added");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (members) => {
      const text = JSON.stringify({ version: 1, ...members }, undefined, 2);
      const step: MigrationStep = { kind: "set", member: ["added", "here"], value: "x" };
      const json = migrated(listed("a.json", step), text, "2").text;
      const after = { version: 2, ...members, added: { here: "x" } };
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(after)));
      // JSON is YAML: what comes out of it as YAML is read back as JSON's migration is
      const yaml = migrated(listed("a.yaml", step), text, "2").text;
      expect(parsedYaml(yaml)).toEqual(JSON.parse(json));
    }),
    { numRuns: 150 },
  );
});
