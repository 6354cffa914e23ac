// Several files in one call: all or none, whatever fails, and dry runs.
import { chmodSync, linkSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Refusal, ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { FileAccess } from "../../../src/model/place/files.ts";
import type { ToolContext } from "../../../src/model/tool/tool.ts";
import { editFile } from "../../../src/tools/edit/edit-tools.ts";
import { newPlace, type Place } from "../../support/files-fixture.ts";

let place: Place;
beforeEach(() => {
  place = newPlace();
  for (const name of NAMES) put(name, `${name} old\n`);
});
afterEach(() => place.close());

const NAMES = ["a.txt", "b.txt", "c.txt"];
const put = (name: string, content: string) => writeFileSync(join(place.root, name), content);
const content = (name: string) => readFileSync(join(place.root, name), "utf8");
const contents = () => NAMES.map(content);
const BEFORE = NAMES.map((name) => `${name} old\n`);
const AFTER = NAMES.map((name) => `${name} new\n`);
const replace = (name: string, more: object = {}) => ({
  path: name,
  edits: [{ operation: "replace", spec: "old", content: "new", ...more }],
});

async function run(args: object, files: FileAccess = place.files) {
  const context = { files, reply: "result", variant: "call", hidden: () => [] } as unknown as ToolContext;
  try {
    return await editFile.execute(editFile.parameters.parse(args), context);
  } catch (error) {
    if (error instanceof Refusal) return { code: error.denial.reason, message: error.denial.message };
    if (!(error instanceof ToolFailure)) throw error;
    return { code: error.code, message: error.message, suggestion: error.suggestion };
  }
}
/** Nothing but the files themselves: no new version was left beside them. */
const leftOver = () => readdirSync(place.root).filter((name) => !NAMES.includes(name) && name !== "contracts");

test("all files change, and each has its diff", async () => {
  const told = await run({ files: NAMES.map((name) => replace(name)) });
  expect(told).toMatchObject({
    kind: "data",
    data: { replacements: 3, files: NAMES.map((path) => ({ path, replacements: 1 })) },
  });
  expect(JSON.stringify(told)).toContain("-b.txt old\\n+b.txt new");
  expect(contents()).toEqual(AFTER);
  expect(leftOver()).toEqual([]);
});

test("a dry run shows the same and changes nothing", async () => {
  const told = await run({ files: NAMES.map((name) => replace(name)), dry_run: true });
  expect(told).toMatchObject({ kind: "data", data: { replacements: 3, dry_run: true } });
  expect(JSON.stringify(told)).toContain("+c.txt new");
  expect(await run({ path: "a.txt", old_string: "old", new_string: "new", dry_run: true })).toMatchObject({
    data: { dry_run: true, diff: expect.stringContaining("+a.txt new"), size_bytes: 10 },
  });
  expect(contents()).toEqual(BEFORE);
});

test("an answer has no more tokens of diff than asked for, and counts the rest", async () => {
  const long = Array.from({ length: 400 }, (_, line) => `line ${line}\n`).join("");
  put("a.txt", long);
  const edits = [{ operation: "replace", spec: "line", content: "LINE", count: 400 }];
  const told = await run({ path: "a.txt", edits, max_tokens: 50 });
  const { diff, diff_lines_omitted: omitted } = (
    told as unknown as { data: { diff: string; diff_lines_omitted: number } }
  ).data;
  expect(diff.length).toBeLessThanOrEqual(200);
  expect(omitted).toBeGreaterThan(100);
});

describe("nothing changes when one does not fit", () => {
  const at = (name: string) => join(place.root, name);
  test.each([
    [
      "an edit that matches nowhere",
      "c.txt",
      () => undefined,
      "MATCH_COUNT_MISMATCH",
      /files\[2\]\.edits\[0\].*c\.txt/,
    ],
    ["a file that is not there", "none.txt", () => undefined, "FILE_NOT_FOUND", /none\.txt/],
    ["a link to a secret file", "link", () => symlinkSync(".env", at("link")), "workspace_blocked_zone", /./],
    ["a hard link", "c.txt", () => linkSync(at("c.txt"), join(place.base, "other")), "workspace_hard_link", /c\.txt/],
    ["the same file by another name", "link", () => symlinkSync("a.txt", at("link")), "EDIT_OVERLAP", /same file/],
  ])("%s", async (_name, third, prepare, code, message) => {
    put(".env", "old\n");
    prepare();
    const spec = code === "MATCH_COUNT_MISMATCH" ? "zzz" : "old";
    const told = await run({ files: [replace("a.txt"), replace("b.txt"), replace(third, { spec })] });
    expect(told).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(contents()).toEqual(BEFORE);
    expect(leftOver().filter((name) => ![".env", "link"].includes(name))).toEqual([]);
  });

  test("a file closed to writing", async () => {
    if (process.getuid?.() === 0) return; // nothing is closed to root
    chmodSync(join(place.root, "c.txt"), 0o444);
    expect(await run({ files: NAMES.map((name) => replace(name)) })).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(contents()).toEqual(BEFORE);
  });

  test("a person who saves one of the files between the match and the write", async () => {
    const files: FileAccess = {
      ...place.files,
      transformAll: (all) =>
        place.files.transformAll(
          all.map((file) => ({
            ...file,
            transform(original) {
              if (file.path === "c.txt") put("a.txt", "a person's\n"); // after a.txt was matched
              return file.transform(original);
            },
          })),
        ),
    };
    const told = await run({ files: NAMES.map((name) => replace(name)) }, files);
    expect(told).toMatchObject({ code: expect.stringMatching(/./), message: expect.stringContaining("a.txt") });
    expect(contents()).toEqual(["a person's\n", "b.txt old\n", "c.txt old\n"]);
    expect(leftOver()).toEqual([]);
  });

  test("a call that is cancelled while its last file is matched", async () => {
    const stop = new AbortController();
    const access = place.access({ signal: stop.signal });
    const all = NAMES.map((path) => ({
      path,
      bytesMax: 100,
      transform(original: Uint8Array) {
        if (path === "c.txt") stop.abort();
        return Buffer.from(Buffer.from(original).toString().replace("old", "new"));
      },
    }));
    await expect(access.transformAll(all)).rejects.toMatchObject({ code: "CANCELLED" });
    expect(contents()).toEqual(BEFORE);
    expect(leftOver()).toEqual([]);
  });
});

test("two calls with the same files in opposite order both end, one after the other", async () => {
  const all = Array.from({ length: 12 }, (_, index) => `n${index}.txt`);
  for (const name of all) put(name, "0\n");
  const edits = (from: string, to: string) =>
    all.map((path) => ({ path, edits: [{ operation: "replace", match_mode: "exact", spec: from, content: to }] }));
  const [one, two] = await Promise.all([
    run({ files: edits("0", "1") }),
    run({ files: edits("0", "2").reverse() }, place.access({})),
  ]);
  const ends = [one, two].map((told) => ("kind" in told ? "done" : told.code));
  expect(ends.sort()).toEqual(["MATCH_COUNT_MISMATCH", "done"]);
  expect(new Set(all.map(content)).size).toBe(1);
});

test("what fails after the first file is placed is taken back", async () => {
  // The directory of the last file is swapped when all was looked at and the first file is about to be placed.
  const [first] = NAMES;
  let looks = 0;
  const all = NAMES.map((path) => ({
    path,
    bytesMax: 100,
    transform: (original: Uint8Array) => Buffer.from(Buffer.from(original).toString().replace("old", "new")),
  }));
  const access = place.access({
    clock: {
      nowMs: () => Date.now(),
      monotonicMs() {
        // Each placement asks whether its lock is fresh: first all are looked at, then each again before it is placed.
        if (content(first ?? "") === AFTER[0]) looks += 1;
        if (looks === 1) {
          looks = 2;
          put("c.txt", "a person's\n");
        }
        return performance.now();
      },
    } as never,
  });
  await expect(access.transformAll(all)).rejects.toMatchObject({ code: expect.stringMatching(/./) });
  expect(contents()).toEqual(["a.txt old\n", "b.txt old\n", "a person's\n"]);
  expect(leftOver()).toEqual([]);
});

test("what cannot be taken back is named, file by file", async () => {
  let looks = 0;
  const all = NAMES.map((path) => ({
    path,
    bytesMax: 100,
    transform: (original: Uint8Array) => Buffer.from(Buffer.from(original).toString().replace("old", "new")),
  }));
  const access = place.access({
    clock: {
      nowMs: () => Date.now(),
      monotonicMs() {
        if (content("a.txt") === AFTER[0]) looks += 1;
        if (looks === 1) {
          looks = 2;
          put("c.txt", "a person's\n");
          // Somebody saves the first file, too, right after it was placed: it is not taken back over their change.
          put("new", "saved by hand\n");
          queueMicrotask(() => renameSync(join(place.root, "new"), join(place.root, "a.txt")));
        }
        return performance.now();
      },
    } as never,
  });
  const failure: unknown = await access.transformAll(all).catch((error: unknown) => error);
  expect(content("c.txt")).toBe("a person's\n");
  expect(content("a.txt")).toBe("saved by hand\n");
  expect(content("b.txt")).toBe(BEFORE[1]);
  expect(failure).toMatchObject({
    code: "OUTCOME_UNKNOWN",
    message: expect.stringMatching(/a\.txt\S* changed, \S*b\.txt\S* \S*c\.txt\S* did not/),
  });
});
