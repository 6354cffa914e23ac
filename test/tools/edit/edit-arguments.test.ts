// The short form of an edit beside Loom's: one of them, with errors that say what is missing.
import { expect, test } from "vitest";
import { editsOf, parameters, wordsOf } from "../../../src/tools/edit/edit-arguments.ts";
import { applyEdits } from "../../../src/tools/edit/loom.ts";

const problems = (args: object) =>
  parameters
    .safeParse({ path: "f", ...args })
    .error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? [];
const edits = [{ operation: "replace", spec: "a", content: "b" }];

test("either form is taken, and neither both nor none", () => {
  expect(problems({ old_string: "a", new_string: "" })).toEqual([]);
  expect(problems({ edits })).toEqual([]);
  expect(problems({ edits, old_string: "a", new_string: "b" })).toEqual([
    "edits: stands instead of `old_string` and `new_string`; give one or the other",
  ]);
  expect(problems({})).toEqual(["old_string: must be given with `new_string`, or `edits` instead of both"]);
  expect(problems({ old_string: "a" })).toEqual([
    "new_string: must be given: the text in its place, empty to remove it",
  ]);
  expect(problems({ new_string: "a" })).toEqual(["old_string: must be given: the text to replace"]);
  expect(problems({ replace_all: true, edits })).toHaveLength(1);
  expect(problems({ old_string: "a", new_string: "a" })[0]).toContain("nothing would change");
  expect(problems({ old_string: "", new_string: "a" })[0]).toContain("write_file");
});

test("replaces exactly one match, or with `replace_all` every one, but never none", () => {
  const apply = (text: string, more: object) => {
    const args = parameters.parse({ path: "f", old_string: "a", new_string: "b", ...more });
    const result = applyEdits(Buffer.from(text), editsOf(args));
    return result.kind === "applied" ? Buffer.from(result.bytes).toString() : result;
  };
  expect(apply("xay", {})).toBe("xby");
  expect(apply("aaa", {})).toEqual({ kind: "mismatch", edit: 0, expected: 1, found: 3, lines: [1, 1, 1] });
  expect(apply("aaa\na", { replace_all: true })).toBe("bbb\nb");
  expect(apply("a", { replace_all: true })).toBe("b");
  expect(apply("none", { replace_all: true }).valueOf()).toMatchObject({ kind: "mismatch", found: 0 });
});

test("failures name what the caller has sent", () => {
  const words = (args: object, variant = "call") => wordsOf(parameters.parse({ path: "f", ...args }), { variant });
  expect(words({ edits }).spec).toBe("`spec`");
  expect(words({ old_string: "a", new_string: "b" }).spec).toBe("`old_string`");
  expect(words({ edits }, "file_edit")).toMatchObject({ spec: "`old_content`", content: "`new_content`" });
});
