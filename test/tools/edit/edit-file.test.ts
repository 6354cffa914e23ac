// `edit_file` on real files: what it answers, what it refuses, and that a refused edit changes nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { ToolContext } from "../../../src/model/tool/tool.ts";
import { createMatch } from "../../../src/sandbox/matching/matching.ts";
import { searchThreads } from "../../../src/sandbox/search/threads.ts";
import { editFile } from "../../../src/tools/edit/edit-tools.ts";
import { newPlace, type Place } from "../../support/files-fixture.ts";

const match = createMatch({ threads: searchThreads(), hidden: () => [], signal: new AbortController().signal });

let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.close());

async function run(args: unknown, variant = "call"): Promise<unknown> {
  const context = {
    files: place.files,
    reply: "result",
    variant,
    hidden: () => [] as const,
    match,
  } as unknown as ToolContext;
  try {
    return await editFile.execute(editFile.parameters.parse(args), context);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { code: error.code, message: error.message, suggestion: error.suggestion };
  }
}
const put = (content: string | Uint8Array) => writeFileSync(join(place.root, "f.txt"), content);
const content = () => readFileSync(join(place.root, "f.txt"), "latin1");

test("edits apply together and the answer carries the diff", async () => {
  put("one\ntwo\n");
  const edits = [
    { operation: "replace", spec: "one", content: "1" },
    { operation: "append_after", match_mode: "exact", spec: "two\n", content: "three\n", count: 1 },
  ];
  expect(await run({ path: "f.txt", edits })).toEqual({
    kind: "data",
    data: {
      path: "f.txt",
      replacements: 2,
      diff: "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,3 @@\n-one\n+1\n two\n+three\n",
      diff_lines_omitted: 0,
      size_bytes: 12,
      created: false,
    },
  });
  expect(content()).toBe("1\ntwo\nthree\n");
});

test("CRLF, byte order mark and invalid UTF-8 elsewhere survive an edit", async () => {
  put(Buffer.from("\xef\xbb\xbfone\r\ntwo\r\n\xff\x80", "latin1"));
  await run({ path: "f.txt", edits: [{ operation: "replace", spec: "two", content: "2" }] });
  expect(content()).toBe("\xef\xbb\xbfone\r\n2\r\n\xff\x80");
});

test("a mismatch and an overlap change nothing and say what to do", async () => {
  put("a\na\r\nb c\n");
  const one = (edit: object) => run({ path: "f.txt", edits: [edit] });
  expect(await one({ operation: "delete", spec: "a" })).toEqual({
    code: "MATCH_COUNT_MISMATCH",
    message: "`edits[0]` expected 1 match of its `spec`, but the file has 2 (lines 1, 2); nothing was changed",
    suggestion: "add lines around the text to `spec` until it is unique, or set `count` to 2 to change all of them",
  });
  expect(await one({ operation: "delete", spec: "a\nb", count: 3 })).toEqual({
    code: "MATCH_COUNT_MISMATCH",
    message: "`edits[0]` expected 3 matches of its `spec`, but the file has 0; nothing was changed",
    suggestion: "the file has CRLF line ends: write `\\r\\n` in `spec` and `content`",
  });
  const overlapping = [
    { operation: "delete", spec: "b" },
    { operation: "delete", spec: "c" },
  ];
  expect(await run({ path: "f.txt", edits: overlapping })).toMatchObject({ code: "EDIT_OVERLAP" });
  expect(await run({ path: "none.txt", edits: [{ operation: "delete", spec: "a" }] })).toMatchObject({
    code: "FILE_NOT_FOUND",
  });
  expect(content()).toBe("a\na\r\nb c\n");
});

test("arguments beyond the schema are refused", () => {
  const accepts = (value: unknown) => editFile.parameters.safeParse(value).success;
  const edit = { operation: "replace", spec: "a", content: "b" };
  expect({
    plain: accepts({ path: "f", edits: [edit] }),
    noEdits: accepts({ path: "f", edits: [] }),
    tooMany: accepts({ path: "f", edits: Array(257).fill(edit) }),
    emptySpec: accepts({ path: "f", edits: [{ ...edit, spec: "" }] }),
    noContent: accepts({ path: "f", edits: [{ operation: "replace", spec: "a" }] }),
    deleteWithout: accepts({ path: "f", edits: [{ operation: "delete", spec: "a" }] }),
    unknown: accepts({ path: "f", edits: [{ ...edit, fuzzy: true }] }),
    halfCharacter: accepts({ path: "f", edits: [{ ...edit, content: "\ud800" }] }),
    zero: accepts({ path: "f", edits: [{ ...edit, count: 0 }] }),
  }).toEqual({
    plain: true,
    noEdits: false,
    tooMany: false,
    emptySpec: false,
    noContent: false,
    deleteWithout: true,
    unknown: false,
    halfCharacter: false,
    zero: false,
  });
});

test("an edit reads and writes its file", () => {
  const args = editFile.parameters.parse({ path: "f", edits: [{ operation: "delete", spec: "a" }] });
  const resource = { kind: "file", path: "f" };
  expect(editFile.analyse(args)).toEqual([
    { resource, effect: "read" },
    { resource, effect: "write" },
  ]);
});

test("the wire's own edit is spoken of by its own names, in message and suggestion", async () => {
  put("one two two\r\nthree\r\n");
  const told = async (spec: string, variant: string) => {
    const args = { path: "f.txt", edits: [{ operation: "replace", spec, content: "X" }] };
    return JSON.stringify(await run(args, variant));
  };
  for (const spec of ["two", "absent", "two\nthree", "[REDACTED:github-token]"]) {
    expect(await told(spec, "file_edit")).toMatch(/`old_content`/);
    expect(await told(spec, "file_edit")).not.toMatch(/edits\[|`spec`|`count`|`content`/);
    expect(await told(spec, "call")).toMatch(/`edits\[0\]`.*`spec`/);
  }
});
