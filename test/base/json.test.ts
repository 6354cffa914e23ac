// The canonical form of JSON: sorted, minimal, the same for equal values, refused where there is none (RFC 8785).
import fc from "fast-check";
import { expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "../../src/base/json.ts";
import { NESTING_DEPTH_MAX } from "../../src/base/limits.ts";

test("members are sorted by UTF-16 code units, as RFC 8785 section 3.2.3 shows", () => {
  const value = {
    "\u20ac": "Euro",
    "\r": "CR",
    "\ufb33": "Dagesh",
    "1": "One",
    "\ud83d\ude00": "Smiley",
    "\u0080": "Control",
    "\u00f6": "o",
  };
  expect(Object.keys(JSON.parse(canonicalJson(value)) as object)).toEqual([
    "1",
    "\r",
    "\u0080",
    "\u00f6",
    "\u20ac",
    "\ud83d\ude00",
    "\ufb33",
  ]);
});

test("numbers are printed as ECMAScript prints them", () => {
  expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0])).toBe(
    "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
  );
});

test("numbers with few decimals are printed as all others", () => {
  const few = fc
    .tuple(fc.integer({ min: -1100, max: 1_100_000_000 }), fc.constantFrom(1, 10, 100, 1000, 10_000))
    .map(([n, by]) => n / by);
  const near = few.map((value) => value * (1 + Number.EPSILON));
  fc.assert(
    fc.property(fc.oneof(few, near, fc.double({ noNaN: true, noDefaultInfinity: true })), (value) => {
      expect(canonicalJson(value)).toBe(JSON.stringify(value));
    }),
  );
  for (const value of [
    0.001, 0.01, 0.1, 1.5, 1.05, 999_999.999, 999_999.9999, 1_000_000, 1_000_000.001, 0.0005, 5e-7,
  ]) {
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
  }
});

test("the order in which members were written does not matter", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), (object) => {
      const reversed = Object.fromEntries(Object.entries(object).reverse());
      expect(canonicalJson(reversed as JsonValue as never)).toBe(canonicalJson(object as JsonValue as never));
    }),
  );
});

test("objects that come again, in any order and with any member absent, are printed as at first", () => {
  const name = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 3 }),
    fc.constantFrom("__proto__", "10", "9", "a", "b", "", "\u20ac"),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(name, fc.jsonValue({ maxDepth: 1 })), { selector: ([key]) => key, maxLength: 6 }),
      (members) => {
        const printed = members
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member as JsonValue)}`);
        const object = Object.fromEntries(members) as JsonObject;
        for (let time = 0; time < 4; time += 1) {
          expect(canonicalJson({ ...object })).toBe(`{${printed.join(",")}}`);
          for (const [key] of members) {
            const rest = printed.filter((member) => !member.startsWith(`${JSON.stringify(key)}:`));
            expect(canonicalJson(Object.fromEntries([...members, [key, undefined]]) as JsonObject)).toBe(
              `{${rest.join(",")}}`,
            );
          }
        }
      },
    ),
  );
});

test("a name without a canonical form is refused each time", () => {
  for (let time = 0; time < 4; time += 1) expect(() => canonicalJson({ a: 1, "\ud800": 2 })).toThrow(KernelError);
});

test("objects with many or long names are printed in order each time", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n${(index * 37) % 100}`, index]));
  const long = { [`b${"x".repeat(100)}`]: 1, [`a${"x".repeat(100)}`]: 2 };
  for (let time = 0; time < 3; time += 1) {
    expect(canonicalJson(many)).toBe(
      `{${Object.keys(many)
        .sort()
        .map((name) => `"${name}":${many[name]}`)
        .join(",")}}`,
    );
    expect(Object.keys(JSON.parse(canonicalJson(long)) as object).map(([first]) => first)).toEqual(["a", "b"]);
  }
});

test("a value survives its canonical form", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
      expect(JSON.parse(canonicalJson(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("absent members are left out", () => {
  expect(canonicalJson({ a: undefined, b: null })).toBe('{"b":null}');
});

test.each([
  ["a lone surrogate", "\ud800"],
  ["a lone surrogate in a name", { "\udc00": 1 }],
  ["a number that is not finite", Number.NaN],
])("%s has no canonical form", (_what, value) => {
  expect(() => canonicalJson(value as JsonValue)).toThrow(KernelError);
});

test("nesting is bounded", () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);
  expect(canonicalJson(nested(NESTING_DEPTH_MAX))).toContain("1");
  expect(() => canonicalJson(nested(NESTING_DEPTH_MAX + 1))).toThrow(KernelError);
});
