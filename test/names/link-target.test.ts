// Where symbolic links lead, as far as their text says it.
import { expect, test } from "vitest";
import { leadsOutside } from "../../src/names/link-target.ts";

test.each([
  ["a", "b"],
  ["a", "./b/c"],
  ["d/a", "../b"],
  ["d/e/a", "../../b"],
  ["d/a", ".."],
  [".venv/bin/python", "/usr/bin/python3"],
  ["sh", "//bin/./sh"],
  ["masked", "/dev/null"],
])("%s -> %s stays, or leads to the system's own", (path, target) => {
  expect(leadsOutside(path, target)).toBe(false);
});

test.each([
  ["a", ".."],
  ["a", "../b"],
  ["d/a", "../../b"],
  ["d/a", "/home/ann/.ssh/id"],
  ["a", "/etc/passwd"],
  ["a", "/"],
  ["a", "/usrlocal"],
  ["a", "/dev/nullx"],
  ["a", "/usr/../etc/passwd"],
  ["a", "b/c/../.."],
  ["a", "./../b"],
])("%s -> %s leads outside", (path, target) => {
  expect(leadsOutside(path, target)).toBe(true);
});
