// Which paths are too long or too deep for a workspace.
import { expect, test } from "vitest";
import { isPathTooLong, PATH_BYTES_MAX, PATH_LEVELS_MAX } from "../../src/names/path-size.ts";

const levels = (count: number) => Array.from({ length: count }, () => "d").join("/");

test.each([
  ["", false],
  ["a".repeat(PATH_BYTES_MAX), false],
  ["a".repeat(PATH_BYTES_MAX + 1), true],
  ["€".repeat(PATH_BYTES_MAX / 3), false],
  ["€".repeat(PATH_BYTES_MAX / 3 + 1), true],
  [levels(PATH_LEVELS_MAX), false],
  [levels(PATH_LEVELS_MAX + 1), true],
])("bytes and levels of a path have a bound each (case %#)", (path, isTooLong) => {
  expect(isPathTooLong(path)).toBe(isTooLong);
});
