// Markers: what is one, and which ones are new in a text.
import { expect, test } from "vitest";
import { hasMarkers, isRuleName, markerOf, markersIn, newMarkers } from "../../../src/redact/search/marker.ts";

test("a marker is recognised by its rule", () => {
  expect(markerOf("github-token")).toBe("[REDACTED:github-token]");
  expect(markersIn("a [REDACTED:x] b [REDACTED:github-token][REDACTED:x]")).toEqual([
    "[REDACTED:x]",
    "[REDACTED:github-token]",
    "[REDACTED:x]",
  ]);
  expect(hasMarkers("[REDACTED:session-token]")).toBe(true);
});

test.each([
  "[REDACTED]",
  "[REDACTED:]",
  "[REDACTED:Upper]",
  "[REDACTED:<rule>]",
  "[REDACTED:-x]",
  "REDACTED:x",
  "[REDACTED: x]",
])("%s is none", (text) => {
  expect(hasMarkers(text)).toBe(false);
});

test("a rule's name fits a marker", () => {
  expect(isRuleName("a")).toBe(true);
  expect(isRuleName("a".repeat(64))).toBe(true);
  expect(isRuleName("a".repeat(65))).toBe(false);
  expect(isRuleName("ends-")).toBe(false);
});

test("only markers that the original lacks are new", () => {
  expect(newMarkers("x [REDACTED:a] y", "z [REDACTED:a] y")).toEqual([]);
  expect(newMarkers("x [REDACTED:a] y", "[REDACTED:a] [REDACTED:a] [REDACTED:b]")).toEqual([
    "[REDACTED:a]",
    "[REDACTED:b]",
  ]);
  expect(newMarkers("nothing", "nothing")).toEqual([]);
});
