/** Measures of the constraint table, and the ids of its rules. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CONSTRAINTS,
  hasMoreBytes,
  hasMoreCharacters,
  hasTraversal,
  invariantOf,
} from "../../../src/model/outcome/constraints.ts";

const texts = fc.string({ unit: "binary", maxLength: 30 });

test("characters are code points, also of text with half of a surrogate pair", () => {
  fc.assert(
    fc.property(
      fc.oneof(texts, fc.constantFrom("\ud800", "a\udc00", "\ud83d\ud83d\ude00", "")),
      fc.nat(35),
      (text, max) => {
        expect(hasMoreCharacters(text, max)).toBe([...text].length > max);
      },
    ),
    { numRuns: 2000 },
  );
});

test("bytes are those of UTF-8", () => {
  fc.assert(
    fc.property(texts, fc.nat(100), (text, max) => {
      expect(hasMoreBytes(text, max)).toBe(new TextEncoder().encode(text).length > max);
    }),
    { numRuns: 2000 },
  );
});

test("traversal is a component, whichever way the slashes lean", () => {
  const parts = fc.array(fc.constantFrom("a", "..", ".", "...", "a..b", ""), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(parts, fc.constantFrom("/", "\\"), (components, slash) => {
      expect(hasTraversal(components.join(slash))).toBe(components.includes(".."));
    }),
  );
});

test("INV-0001 to INV-0034: every invariant of the protocol stands behind some rule", () => {
  const rules = Object.values(CONSTRAINTS).flatMap(({ invariants }) => Object.values(invariants) as string[]);
  const across = [
    invariantOf({ field: "tool", rule: "required", message: "" }),
    invariantOf({ field: "file_write", rule: "mutually_exclusive", message: "" }),
  ];
  const numbered = [...new Set([...rules, ...across])].filter((id) => id.startsWith("INV-")).sort();
  expect(numbered).toEqual(Array.from({ length: 34 }, (_, index) => `INV-${String(index + 1).padStart(4, "0")}`));
});

test("the id of a rule follows the field, entries included, and never fails", () => {
  const id = (field: string, rule: string) => invariantOf({ field, rule, message: "" });
  expect(id("shell_exec.env[3]", "format")).toBe("INV-0020");
  expect(id("file_read.path", "no_path_traversal")).toBe("INV-0007");
  expect(id("", "decode")).toBe("WIRE:decode");
  expect(id("constructor", "required")).toBe("WIRE:constructor");
  expect(id("file_read.path", "toString")).toBe("WIRE:file_read.path");
});
