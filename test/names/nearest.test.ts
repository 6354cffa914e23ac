/** Which known name somebody most likely meant. */
import { expect, test } from "vitest";
import { nearestName } from "../../src/names/nearest.ts";

const TOOLS = [
  "delete_file",
  "edit_file",
  "git",
  "git_diff",
  "list_files",
  "read_file",
  "run_test",
  "shell",
  "write_file",
];

test.each([
  ["read_fil", "read_file"],
  ["raed_file", "read_file"],
  ["readFile", "read_file"],
  ["READ-FILE", "read_file"],
  ["write_fiel", "write_file"],
  ["run_tests", "run_test"],
  ["list_file", "list_files"],
  ["shel", "shell"],
  ["gti", "git"],
])("%s: %s", (meant, name) => {
  expect(nearestName(meant, TOOLS)).toBe(name);
});

test.each(["teleport", "x", "", "bash", "r".repeat(65), "read_file".repeat(9)])("nothing is near %j", (meant) => {
  expect(nearestName(meant, TOOLS)).toBeUndefined();
});

test("of names that are equally near the first is taken, and a slip for every three characters is the most", () => {
  expect(nearestName("cat", ["bat", "hat"])).toBe("bat");
  expect([nearestName("abcxyz", ["abcdez"]), nearestName("abuvwz", ["abcdez"])]).toEqual(["abcdez", undefined]);
});
