// JSON Schemas of the operator: what is accepted is enforced, and nothing in them can take long.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileInputSchema } from "../../../src/kernel/declared/input-schema.ts";

const compile = (schema: JsonObject) => compileInputSchema(schema, "skills/docs.yaml");

describe("an input", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string", pattern: "^docs/[a-z]+\\.md$" },
      edits: { type: "array", items: { $ref: "#/$defs/edit" }, maxItems: 2 },
    },
    required: ["path"],
    additionalProperties: false,
    $defs: { edit: { type: "object", properties: { count: { const: 1 } } } },
  };

  test.each([
    [{ path: "docs/a.md" }, undefined],
    [{ path: "docs/a.md", edits: [{ count: 1 }] }, undefined],
    [{ path: "src/a.md" }, 'path must match pattern "^docs/[a-z]+\\.md$"'],
    [{ path: "docs/a.md\n" }, 'path must match pattern "^docs/[a-z]+\\.md$"'],
    [{}, "the input must have required property 'path'"],
    [{ path: "docs/a.md", force: true }, "the input must not have the member `force`"],
    [{ path: "docs/a.md", edits: [{ count: 2 }] }, "edits.0.count must be equal to constant"],
    [{ path: 7 }, "path must be string"],
  ])("%j is judged: %s", async (input, message) => {
    const { problemOf } = await compile(schema);
    expect(problemOf(input)).toEqual(message === undefined ? undefined : { kind: "failed", message });
  });

  test("has no members by inheritance", async () => {
    const { problemOf } = await compile({ type: "object", required: ["constructor"] });
    expect(problemOf({})).toMatchObject({ kind: "failed" });
    expect(problemOf({ constructor: 1 })).toBeUndefined();
  });

  test("that is judged one after the other is judged anew each time", async () => {
    const { problemOf } = await compile({ type: "object", properties: { text: { type: "string", pattern: "a$" } } });
    const long = { text: "b".repeat(1_000_000) };
    for (let turn = 0; turn < 3; turn += 1) expect(problemOf(long)?.kind).toBe("failed");
  });

  test("keywords of the 2020 dialect are enforced", async () => {
    const { problemOf } = await compile({
      type: "object",
      dependentRequired: { force: ["reason"] },
      if: { properties: { mode: { const: "all" } }, required: ["mode"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["limit"] },
      unevaluatedProperties: { type: ["string", "number", "boolean"] },
    });
    expect(problemOf({ mode: "some" })).toBeUndefined();
    expect(problemOf({ mode: "all" })).toMatchObject({ kind: "failed" });
    expect(problemOf({ force: true })).toMatchObject({ kind: "failed" });
    expect(problemOf({ other: [] })).toMatchObject({ kind: "failed" });
  });
});

describe("time is bounded:", () => {
  test("a pattern that would take exponential time elsewhere takes linear time", async () => {
    const { problemOf } = await compile({
      type: "object",
      properties: { text: { type: "string", pattern: "^(a+)+$" } },
    });
    expect(problemOf({ text: `${"a".repeat(50_000)}!` })).toMatchObject({ kind: "failed" });
    expect(problemOf({ text: "a".repeat(50_000) })).toBeUndefined();
  });

  test("an input that is too large for its patterns is not judged, also where not matching would allow it", async () => {
    const pattern = { type: "string", pattern: "^[ab]{1,500}$" };
    for (const text of [{ not: pattern }, pattern]) {
      const { problemOf } = await compile({ type: "object", properties: { text } });
      expect(problemOf({ text: "c".repeat(1_000_000) })).toEqual({
        kind: "unreadable",
        message: "the input is too large for the patterns of its schema",
      });
    }
  });

  /** Each definition leads to the next one twice; shallow enough that their depth is none that is refused. */
  const doubled = Object.fromEntries(
    Array.from({ length: 11 }, (_, index) => [
      `d${index}`,
      index === 10
        ? { type: "string" }
        : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  );

  test.each<[string, JsonObject, RegExp]>([
    [
      "a reference to itself",
      { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
      /leads back to itself/,
    ],
    [
      "references that double",
      { $defs: doubled, $ref: "#/$defs/d0" },
      /stands for \d+ subschemas, of which 1024 are accepted/,
    ],
    ["a subschema too many", { allOf: Array.from({ length: 1024 }, () => true) }, /stands for 1025 subschemas/],
    ["a reference that leaves", { $ref: "https://example.com/schema" }, /only references such as/],
    ["a reference to nothing", { $ref: "#/$defs/none" }, /there is no/],
    ["a reference to an inherited name", { $ref: "#/$defs/constructor" }, /there is no/],
    ["items that are compared without end", { type: "array", uniqueItems: true }, /uniqueItems: needs `maxItems`/],
    ["a back-reference", { type: "string", pattern: "(a)\\1" }, /back-reference/],
    ["a look-ahead", { type: "object", patternProperties: { "^(?=a)": true } }, /linear-time/],
    ["deep subschemas", deep(40), /nest more than 32 deep/],
  ])("%s is refused when it is loaded, and said where", async (_what, schema, problem) => {
    await expect(compile(schema)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(problem),
    });
    await expect(compile(schema)).rejects.toThrow(/^`skills\/docs\.yaml`: /);
  });
});

test("as many subschemas as are accepted are", async () => {
  expect((await compile({ allOf: Array.from({ length: 1023 }, () => true) })).problemOf({})).toBeUndefined();
});

test.each<[string, JsonObject, RegExp]>([
  [
    "an unknown keyword",
    { properties: { path: { patern: "a" } } },
    /properties\.path\.patern: the keyword is not accepted/,
  ],
  ["a format, which nothing checks", { type: "string", format: "uri" }, /format: the keyword is not accepted/],
  ["a keyword of another kind", { type: "strin" }, /type/],
  ["a pattern that is none", { type: "string", pattern: "(" }, /pattern/],
  ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /draft-07/],
  ["a schema that is none", { properties: { path: "string" } }, /properties\.path: must be a schema/],
])("%s is refused", async (_what, schema, problem) => {
  await expect(compile(schema)).rejects.toThrow(problem);
});

function deep(levels: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}
