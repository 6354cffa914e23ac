/** Strict JSON: one meaning, or none. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "../../src/base/json.ts";
import { JSON_VALUES_MAX, parseJson } from "../../src/base/json-parse.ts";
import { NESTING_DEPTH_MAX } from "../../src/base/limits.ts";

test("what JSON.stringify writes is read back", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "grapheme" }), (value) => {
      fc.pre(!JSON.stringify(value).includes('"__proto__"'));
      const parsed = parseJson(JSON.stringify(value, undefined, 2));
      expect(parsed).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) });
      if (parsed.ok)
        expect(canonicalJson(parsed.value)).toBe(canonicalJson(JSON.parse(JSON.stringify(value)) as JsonValue));
    }),
    { numRuns: 500 },
  );
});

describe("a member named twice", () => {
  test.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"x":[{"b":{},"b":{}}]}', '{"a":"}{\\"a\\":","a":0}'])(
    "%s is refused",
    (text) => {
      expect(parseJson(text)).toEqual({ ok: false, problem: "an object names a member twice" });
      expect(JSON.parse(text)).toBeDefined(); // control: the platform's parser takes the last one
    },
  );

  test.each(['{"a":1,"b":{"a":2}}', '[{"a":1},{"a":1}]', '{"a:b":"c:d","\\"":":"}'])("%s is none", (text) => {
    expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });
});

test("`__proto__` is refused at any depth; control: a copy of it changes what the object is", () => {
  const text = '{"a":[{"__proto__":{"admin":true}}]}';
  expect(parseJson(text).ok).toBe(false);
  const attacked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(JSON.parse('{"__proto__":{"admin":true}}') as object))
    attacked[name] = value;
  expect(attacked["admin"]).toBe(true);
});

describe("nesting", () => {
  test("as deep as the limit is read, one deeper is refused before it is parsed", () => {
    expect(parseJson("[".repeat(NESTING_DEPTH_MAX) + "]".repeat(NESTING_DEPTH_MAX)).ok).toBe(true);
    expect(parseJson("[".repeat(NESTING_DEPTH_MAX + 1) + "]".repeat(NESTING_DEPTH_MAX + 1)).ok).toBe(false);
    expect(parseJson("[".repeat(1_000_000))).toEqual({
      ok: false,
      problem: `nested more than ${NESTING_DEPTH_MAX} levels deep`,
    });
  });

  test("brackets inside of strings do not count", () => {
    const text = JSON.stringify("[{".repeat(1000));
    expect(parseJson(text)).toEqual({ ok: true, value: "[{".repeat(1000) });
  });
});

test("as many values as the limit are read, one more is refused before it is parsed", () => {
  const list = (count: number) => `[${new Array<string>(count).fill("0").join(",")}]`;
  expect(parseJson(list(JSON_VALUES_MAX - 1)).ok).toBe(true);
  expect(parseJson(list(JSON_VALUES_MAX))).toEqual({ ok: false, problem: `more than ${JSON_VALUES_MAX} values` });
  expect(parseJson(`[${"{},".repeat(JSON_VALUES_MAX / 2)}{}]`).ok).toBe(false);
  expect(parseJson(JSON.stringify(",[{".repeat(JSON_VALUES_MAX))).ok).toBe(true);
});

test.each([
  ['"\\ud800"', "a string with half of a surrogate pair is no Unicode text"],
  ['{"\\udc00":1}', "a member name with half of a surrogate pair is no Unicode text"],
  ["1e999", "a number is too large"],
  ['"\\', "not valid JSON"],
  ['{"password":"hunter2"', "not valid JSON"],
  ["", "not valid JSON"],
])("%s is refused without quoting it", (text, problem) => {
  expect(parseJson(text)).toEqual({ ok: false, problem });
});
