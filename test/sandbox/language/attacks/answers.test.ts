/** Answers of language servers that hold far more than anyone asked for: they are none before they are looked at. */
import { expect, test } from "vitest";
import { readEdits, readLocations, readReport } from "../../../../src/sandbox/language/answers.ts";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };

/** `count` times the same place, and how often a reader has looked at it. */
function places(count: number) {
  let looks = 0;
  const place = {
    get uri() {
      looks += 1;
      return "file:///workspace/a.ts";
    },
    range,
  };
  return { all: new Array<object>(count).fill(place), looks: () => looks };
}

test("places without end are no answer, and none of them is looked at", () => {
  const { all, looks } = places(600_000);
  expect(readLocations(all)).toBeUndefined();
  expect(looks()).toBe(0);
  // the control: as many as may be are read
  const few = places(1000);
  expect(readLocations(few.all)).toHaveLength(1000);
  expect(few.looks()).toBeGreaterThanOrEqual(1000);
});

test("changes of files without end, and many small lists that are much together, are no answer", () => {
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, []]));
  expect(readEdits({ changes: named(600_000) })).toBeUndefined();
  const { all, looks } = places(20_000);
  const documentChanges = Array.from({ length: 40 }, () => ({ textDocument: { uri: "file:///a" }, edits: all }));
  expect(readEdits({ documentChanges })).toBeUndefined();
  expect(looks()).toBeLessThanOrEqual(20_000 * 25);
  expect(readEdits({ changes: named(1000) })).toHaveLength(1000); // the control
});

test("links without end are no answer either", () => {
  const link = { targetUri: "file:///workspace/a.ts", targetSelectionRange: range };
  expect(readLocations(new Array(20_001).fill(link))).toBeUndefined();
  expect(readLocations(new Array(20_000).fill(link))).toHaveLength(20_000);
});

test("a report of things that are none is none", () => {
  expect(readReport({ kind: "full", items: new Array(600_000).fill(0) })).toBeUndefined();
  expect(readReport({ kind: "full", items: [{ range, message: "x" }] })).toHaveLength(1);
});
