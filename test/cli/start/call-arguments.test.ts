// Arguments of a call as words: the tool's schema types them, and what does not fit is refused with what fits.
import { expect, test } from "vitest";
import { callArguments } from "../../../src/cli/start/call-arguments.ts";
import { exampleArguments } from "../../../src/cli/start/example-arguments.ts";
import { SCOPE_FLAGS, scopeOf } from "../../../src/cli/start/lease-options.ts";
import { LEASE_DIMENSIONS, UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";

const TOOL = {
  name: "try_it",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      depth: { type: "integer" },
      share: { type: "number" },
      deep: { type: "boolean" },
      mode: { type: "string", enum: ["head", "tail"] },
      files: { type: "array", items: { type: "string" } },
      either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      edits: { type: "array", items: { type: "object" } },
    },
    required: ["path", "mode"],
    additionalProperties: false,
  },
};
const FILES: Readonly<Record<string, string>> = { "a.txt": "of a file\n", "e.json": '[{"spec":"x"}]' };
const read = (words: readonly string[], base = {}) =>
  callArguments(words, { tool: TOOL, base, readFile: async (path) => FILES[path] ?? "" });

test("words become what the schema has: text, numbers, true or false, members of a list, JSON, the text of a file", async () => {
  expect(await read(["path=1", "depth=3", "share=0.5", "deep=true", "mode=tail", "files=a", "files=b=c"])).toEqual({
    path: "1",
    depth: 3,
    share: 0.5,
    deep: true,
    mode: "tail",
    files: ["a", "b=c"],
  });
  expect(await read(["path=@a.txt", 'edits:=[{"spec":"y"}]', "either=true"])).toEqual({
    path: "of a file\n",
    edits: [{ spec: "y" }],
    either: "true",
  });
  expect(await read(["edits:=@e.json", "path:=null", "depth:=4"])).toEqual({
    edits: [{ spec: "x" }],
    path: null,
    depth: 4,
  });
  expect(await read(["path="], { depth: 1 })).toEqual({ depth: 1, path: "" });
});

test.each([
  [["pth=a"], "`try_it` has no argument `pth`; did you mean `path`? (`handrail tools try_it` lists them)"],
  [["nonsense=a"], /has no argument `nonsense`; it takes path, depth, share, deep, mode, files, either, edits /],
  [["README.md"], /`README\.md` is no argument of `try_it`; write `KEY=VALUE`, such as `path=README\.md`/],
  [["depth=two"], "`depth` takes whole number, not `two`"],
  [["depth=1.5"], "`depth` takes whole number, not `1.5`"],
  [["deep=yes"], "`deep` takes true or false, not `yes`"],
  [["mode=tial"], "`mode` takes one of head, tail, not `tial`; did you mean `tail`?"],
  [["edits=x"], /`edits` takes JSON object, not `x`; write `edits:=JSON` or `edits:=@FILE`/],
  [["edits:=[x]"], "`edits` cannot be used: not valid JSON at line 1, column 2, near `[x]`"],
  [["path=a", "path=b"], "`path` is given twice, and it is no list; give it once"],
])("%j is refused: %s", async (words, message) => {
  await expect(read(words)).rejects.toMatchObject({
    code: "USAGE",
    message: typeof message === "string" ? message : expect.stringMatching(message),
  });
});

test("what --json gives as well is refused", async () => {
  await expect(read(["path=a"], { path: "b" })).rejects.toThrow("`path` is given in --json as well; give it once");
});

test("an example has every argument that must be given, of its type", () => {
  expect(exampleArguments(TOOL.inputSchema)).toEqual({ path: "README.md", mode: "head" });
});

test("every dimension of a lease has a flag of its own, and what is not said is not restricted", () => {
  expect(SCOPE_FLAGS.map(({ dimension }) => dimension).sort()).toEqual([...LEASE_DIMENSIONS].sort());
  const said = Object.fromEntries(SCOPE_FLAGS.map(({ flag }) => [flag, [`only-${flag}`]]));
  expect(scopeOf(said)).toEqual(
    Object.fromEntries(SCOPE_FLAGS.map(({ flag, dimension }) => [dimension, [[`only-${flag}`]]])),
  );
  expect(scopeOf({})).toEqual(UNRESTRICTED_SCOPE);
});
