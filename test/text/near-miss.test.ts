// The name that was probably meant.
import { expect, test } from "vitest";
import { nearestName } from "../../src/text/near-miss.ts";

const NAMES = ["read_file", "write_file", "list_files", "git", "shell"];

test.each([
  ["read_fil", "read_file"],
  ["ReadFile", "read_file"],
  ["READ-FILE", "read_file"],
  ["raed_file", "read_file"],
  ["write_fiel", "write_file"],
  ["list-file", "list_files"],
  ["shel", "shell"],
  ["gti", undefined],
  ["write", "write_file"],
  ["frobnicate", undefined],
  ["x", undefined],
  ["", undefined],
  ["y".repeat(1_000_000), undefined],
])("%s: %s", (name, meant) => {
  expect(nearestName(name, NAMES)).toBe(meant);
});

test("of names that are equally near the first is taken", () => {
  expect(nearestName("cat", ["bat", "hat"])).toBe("bat");
});

test("a beginning that several names share means none of them", () => {
  expect(nearestName("al", ["allow_one", "allow_all"])).toBeUndefined();
});
