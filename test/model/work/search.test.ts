// The search handle on real trees: what is searched, what is left out and counted, what is shown, in which order,
// within which bounds.
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { COUNT_FILES_LISTED_MAX, SEARCH_LINE_CHARACTERS_MAX, SHOWN_BYTES_MAX } from "../../../src/base/limits.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import type { SearchAccess } from "../../../src/model/work/search.ts";
import { SEARCH_BINARY_PROBE_BYTES, SEARCH_FILE_BYTES_MAX } from "../../../src/sandbox/search/tree/contents.ts";
import { SEARCH_BATCH_FILES, SEARCH_DEPTH_MAX } from "../../../src/sandbox/search/tree/walk.ts";
import { endOf, newPlace, type Place } from "../../support/files-fixture.ts";
import { count, find, queryFor, searchIn, shortly } from "../../support/search-fixture.ts";

let place: Place;
let search: SearchAccess;
beforeEach(() => {
  place = newPlace();
  search = searchIn(place);
});
afterEach(() => place.close());

function put(path: string, content: string | Uint8Array = "needle\n"): string {
  const file = join(place.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}
const pathsOf = async (path = ".", more: Parameters<typeof queryFor>[1] = {}) =>
  (await count(search, path, "needle", more)).files.map((file) => file.path);
const NOTHING_SKIPPED = { binary: 0, tooLarge: 0, unreadable: 0, vanished: 0 };

describe("what is searched", () => {
  test("all regular files, dot files too, in the order of the bytes of their paths", async () => {
    for (const path of ["b/c.txt", "b.txt", "b-a.txt", "a", "B", ".hidden/x", "é", "b/a/z", "b!/x"]) put(path);
    expect(await pathsOf()).toEqual([".hidden/x", "B", "a", "b!/x", "b-a.txt", "b.txt", "b/a/z", "b/c.txt", "é"]);
  });

  test("one directory when it is not to be recursive, and one file by its name", async () => {
    put("a.txt");
    put("d/b.txt");
    put("d/e/c.txt");
    expect(await pathsOf("d", { recursive: false })).toEqual(["d/b.txt"]);
    expect(await pathsOf("d/e/c.txt")).toEqual(["d/e/c.txt"]);
  });

  test("secret and managed places do not exist, not even as a number", async () => {
    put("a.txt");
    for (const path of [".env", "secrets/key", ".git/config", "node_modules/x/index.js", "d/.env.local"]) put(path);
    put(".env.example");
    expect(await count(search, ".", "needle")).toEqual({
      total: 2,
      filesMatched: 2,
      files: [
        { path: ".env.example", count: 1 },
        { path: "a.txt", count: 1 },
      ],
      filesSearched: 2,
      skipped: NOTHING_SKIPPED,
      truncated: false,
    });
    // naming it is judged before the call; inside nothing is seen
    expect(await endOf(() => find(search, "secrets", "needle"))).toBe("ok");
    expect(await pathsOf("secrets")).toEqual([]);
  });

  test("what the call may not read is not searched", async () => {
    put("a.txt");
    put("b.txt");
    const narrow = searchIn(place, { mayRead: ({ path }) => path === "a.txt" });
    expect(await find(narrow, ".", "needle")).toMatchObject({ filesSearched: 1, lines: [{ path: "a.txt" }] });
  });

  test("shared places only when named under STRICT, always under SHARED", async () => {
    put("a.txt");
    put("contracts/api.yaml");
    const shared = searchIn(place, { isolationLevel: "SHARED" });
    expect(shortly(await find(search, ".", "needle"))).toEqual(["a.txt:1:1:needle"]);
    expect(shortly(await find(search, "contracts", "needle"))).toEqual(["contracts/api.yaml:1:1:needle"]);
    expect(shortly(await find(shared, ".", "needle"))).toEqual(["a.txt:1:1:needle", "contracts/api.yaml:1:1:needle"]);
  });

  test("shared directories outside the service come by their absolute paths", async () => {
    const service = newPlace("services/one");
    try {
      const project = join(service.base, "project");
      writeFileSync(join(service.root, "a.txt"), "needle");
      writeFileSync(join(project, "contracts/b.txt"), "needle");
      writeFileSync(join(project, "other.txt"), "needle");
      mkdirSync(join(project, "services/two"));
      writeFileSync(join(project, "services/two/c.txt"), "needle");
      const named = join(project, "contracts");
      expect(shortly(await find(searchIn(service), ".", "needle"))).toEqual(["a.txt:1:1:needle"]);
      expect(shortly(await find(searchIn(service), named, "needle"))).toEqual([`${named}/b.txt:1:1:needle`]);
      const all = await find(searchIn(service, { isolationLevel: "SHARED" }), ".", "needle");
      expect(shortly(all)).toEqual(["a.txt:1:1:needle", `${named}/b.txt:1:1:needle`]);
    } finally {
      service.close();
    }
  });

  test("globs are for names, or with a slash for paths from the searched directory", async () => {
    for (const path of ["a.ts", "a.tsx", "src/b.ts", "src/deep/c.ts", "src/d.js"]) put(path);
    expect(await pathsOf(".", { glob: "*.ts" })).toEqual(["a.ts", "src/b.ts", "src/deep/c.ts"]);
    expect(await pathsOf(".", { glob: "*.{tsx,js}" })).toEqual(["a.tsx", "src/d.js"]);
    expect(await pathsOf(".", { glob: "src/*.ts" })).toEqual(["src/b.ts"]);
    expect(await pathsOf("src", { glob: "deep/**" })).toEqual(["src/deep/c.ts"]);
    expect(await endOf(() => pathsOf(".", { glob: "[" }))).toBe("NOT_SUPPORTED");
  });

  test("links are not followed, and directories that loop end nothing", async () => {
    put("d/a.txt");
    symlinkSync("d", join(place.root, "to-d"));
    symlinkSync("d/a.txt", join(place.root, "to-a"));
    symlinkSync(".", join(place.root, "d/self"));
    symlinkSync("loop", join(place.root, "loop"));
    expect(await pathsOf()).toEqual(["d/a.txt"]);
    // A link that the call names is followed and judged like any other path.
    expect(await pathsOf("to-d")).toEqual(["d/a.txt"]);
    expect(await pathsOf("to-a")).toEqual(["d/a.txt"]);
  });

  test("a file with two names is read by both", async () => {
    linkSync(put("a.txt"), join(place.root, "b.txt"));
    expect(await pathsOf()).toEqual(["a.txt", "b.txt"]);
  });
});

describe("what is left out and counted", () => {
  test("binary, large and odd files", async () => {
    put("a.txt");
    put("b.bin", Buffer.from("needle\0"));
    put("late-null", Buffer.concat([Buffer.alloc(SEARCH_BINARY_PROBE_BYTES, "needle\n"), Buffer.from([0])]));
    truncateSync(put("large"), SEARCH_FILE_BYTES_MAX + 1);
    writeFileSync(Buffer.concat([Buffer.from(`${place.root}/odd-`), Buffer.from([0xff])]), "needle\n");
    const found = await count(search, ".", "needle");
    expect(found).toMatchObject({ filesSearched: 2, skipped: { binary: 1, tooLarge: 1, unreadable: 1, vanished: 0 } });
    expect(found.files.map(({ path }) => path)).toEqual(["a.txt", "late-null"]);
  });

  test("a file of exactly the greatest size is searched", async () => {
    put("large", Buffer.concat([Buffer.alloc(SEARCH_FILE_BYTES_MAX - 6, "\n"), Buffer.from("needle")]));
    expect(await count(search, ".", "needle")).toMatchObject({ total: 1, skipped: NOTHING_SKIPPED });
  });

  test("by name they are errors with advice", async () => {
    put("b.bin", Buffer.from("needle\0"));
    truncateSync(put("large"), SEARCH_FILE_BYTES_MAX + 1);
    for (const [path, code] of [
      ["b.bin", "BINARY_FILE"],
      ["large", "FILE_TOO_LARGE"],
      ["none", "FILE_NOT_FOUND"],
    ] as const) {
      expect(await endOf(() => count(search, path, "x"))).toBe(code);
    }
  });

  test("files that vanish while the search runs are not missed", async () => {
    for (let index = 0; index < 300; index += 1) put(`f${index}`);
    const running = count(search, ".", "needle");
    for (let index = 0; index < 300; index += 3) rmSync(join(place.root, `f${index}`));
    const { filesSearched, skipped, total } = await running;
    expect(total).toBe(filesSearched);
    expect(filesSearched + skipped.vanished).toBeLessThanOrEqual(300);
    expect(filesSearched).toBeGreaterThanOrEqual(200);
  });

  test("directories that vanish or come while the search runs neither fail it nor end it", async () => {
    for (let index = 0; index < 60; index += 1) put(`d${index}/e/f.txt`);
    for (let round = 0; round < 10; round += 1) {
      const running = count(search, ".", "needle");
      for (let index = round; index < 60; index += 10) rmSync(join(place.root, `d${index}`), { recursive: true });
      for (let index = 0; index < 5; index += 1) put(`new-${round}-${index}/f.txt`);
      expect((await running).truncated).toBe(false);
    }
    expect(await count(search, ".", "needle")).toMatchObject({ total: 50, filesSearched: 50 });
  });

  test("a directory deeper than is entered shows as truncated", async () => {
    const at = (levels: number) => `${"d/".repeat(levels)}a.txt`;
    put(at(SEARCH_DEPTH_MAX - 1));
    expect(await count(search, ".", "needle")).toMatchObject({ total: 1, truncated: false });
    put(at(SEARCH_DEPTH_MAX));
    expect(await count(search, ".", "needle")).toMatchObject({ total: 1, truncated: true });
  });
});

describe("what is shown", () => {
  test("line, column in characters, text without its end, context", async () => {
    put("a.txt", "one\r\ntwö needle needle\r\nthree\r\nfour\r\n");
    const { lines } = await search.find("a.txt", { ...queryFor("needle"), context: 2, linesMax: 10 });
    expect(lines).toEqual([
      { path: "a.txt", line: 2, column: 5, text: "twö needle needle", before: ["one"], after: ["three", "four"] },
    ]);
  });

  test("a byte order mark is no part of the first line", async () => {
    put("a.txt", "\ufeffneedle\nx\n");
    expect(shortly(await find(search, "a.txt", "^needle"))).toEqual(["a.txt:1:1:needle"]);
    const { lines } = await search.find("a.txt", { ...queryFor("x"), context: 1, linesMax: 10 });
    expect(lines).toMatchObject([{ before: ["needle"], after: [] }]);
  });

  test("a match over several lines names its last one", async () => {
    put("a.txt", "a {\n  b\n}\nc\n");
    const one = (pattern: string) => find(search, "a.txt", pattern).then(({ lines }) => lines);
    expect(await one("(?s)\\{.*?\\}")).toEqual([
      { path: "a.txt", line: 1, column: 3, text: "a {", endLine: 3, before: [], after: [] },
    ]);
    expect(await one("a \\{\\n")).toEqual([{ path: "a.txt", line: 1, column: 1, text: "a {", before: [], after: [] }]);
  });

  test("long lines are cut around the match, never inside a character", async () => {
    const long = `${"é😀".repeat(400)}needle${"é😀".repeat(400)}`;
    put("a.txt", `${long}\n`);
    const { lines } = await find(search, "a.txt", "needle");
    expect(lines).toHaveLength(1);
    const [line] = lines;
    expect(line).toMatchObject({ line: 1, column: 801, cut: true });
    expect([...(line?.text ?? "")]).toHaveLength(SEARCH_LINE_CHARACTERS_MAX);
    expect(long).toContain(line?.text);
    expect(line?.text).toContain("needle");
    put(
      "b.txt",
      `needle${"x".repeat(SEARCH_LINE_CHARACTERS_MAX - 6)}\nneedle${"x".repeat(SEARCH_LINE_CHARACTERS_MAX - 5)}\n`,
    );
    expect((await find(search, "b.txt", "needle")).lines.map(({ cut }) => cut ?? false)).toEqual([false, true]);
  });

  test("a line without an end in a file of 10 MB is found and cut", async () => {
    put("a.txt", Buffer.concat([Buffer.alloc(SEARCH_FILE_BYTES_MAX - 6, "x"), Buffer.from("needle")]));
    const { lines } = await find(search, "a.txt", "needle");
    expect(lines).toMatchObject([{ line: 1, column: SEARCH_FILE_BYTES_MAX - 5, cut: true }]);
    expect(lines[0]?.text.endsWith("needle")).toBe(true);
  });

  test("bytes that are not UTF-8 stand as U+FFFD, each where it is", async () => {
    put("a.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("needle é\n")]));
    expect(shortly(await find(search, "a.txt", "n.*é"))).toEqual(["a.txt:1:3:\ufffd\ufffdneedle é"]);
  });

  test("empty matches show each line once, and none behind the last line", async () => {
    put("a.txt", "a\n\nb\n");
    expect(shortly(await find(search, "a.txt", "^$"))).toEqual(["a.txt:2:1:"]);
    expect(shortly(await find(search, "a.txt", "x*"))).toEqual(["a.txt:1:1:a", "a.txt:2:1:", "a.txt:3:1:b"]);
  });
});

describe("bounds", () => {
  test("the first results in order, and `truncated` only when there are more", async () => {
    for (let index = 0; index < 4 * SEARCH_BATCH_FILES; index += 1)
      put(`f${String(index).padStart(4, "0")}`, "needle\nneedle\n");
    const limited = (linesMax: number) => search.find(".", { ...queryFor("needle"), context: 0, linesMax });
    const all = await limited(8 * SEARCH_BATCH_FILES);
    expect(all).toMatchObject({ truncated: false, filesSearched: 4 * SEARCH_BATCH_FILES });
    expect(all.lines).toHaveLength(8 * SEARCH_BATCH_FILES);
    for (const linesMax of [1, 2, 3, 127, 128, 129]) {
      const some = await limited(linesMax);
      expect(some.lines).toEqual(all.lines.slice(0, linesMax));
      expect(some.truncated).toBe(true);
      expect(some).toEqual(await limited(linesMax)); // the same every time, whichever thread was quicker
    }
  });

  test("the text of an answer", async () => {
    put("a.txt", `${"needle ".repeat(50)}\n`.repeat(1000));
    const { lines, truncated } = await search.find("a.txt", { ...queryFor("needle"), context: 0, linesMax: 1000 });
    expect(truncated).toBe(true);
    const bytes = Buffer.byteLength(JSON.stringify(lines)); // as it is printed
    expect(bytes).toBeLessThanOrEqual(SHOWN_BYTES_MAX);
    expect(bytes).toBeGreaterThan(SHOWN_BYTES_MAX - 1000);
  });

  test("20,000 small files: all of them counted, the first ones listed", async () => {
    for (let index = 0; index < 20_000; index += 1) {
      if (index % 1000 === 0) mkdirSync(join(place.root, `d${index / 1000}`));
      writeFileSync(join(place.root, `d${Math.floor(index / 1000)}/f${index}`), "needle");
    }
    const found = await count(search, ".", "needle");
    expect(found).toMatchObject({ total: 20_000, filesMatched: 20_000, filesSearched: 20_000, truncated: false });
    expect(found.files).toHaveLength(COUNT_FILES_LISTED_MAX);
    expect(await find(search, ".", "needle")).toMatchObject({ truncated: true });
  });

  test("a cancelled search ends", async () => {
    for (let index = 0; index < 500; index += 1) put(`f${index}`);
    const controller = new AbortController();
    const running = endOf(() => count(searchIn(place, { signal: controller.signal }), ".", "needle"));
    controller.abort();
    expect(await running).toBe("CANCELLED");
    expect(await endOf(() => count(searchIn(place, { signal: controller.signal }), ".", "needle"))).toBe("CANCELLED");
  });
});

describe("patterns", () => {
  const failureOf = async (pattern: string, path = "."): Promise<ToolFailure> => {
    try {
      await count(search, path, pattern);
    } catch (error) {
      if (error instanceof ToolFailure) return error;
      throw error;
    }
    throw new Error("the search did not fail");
  };

  test("one that is none says what and where, even where there is nothing to search", async () => {
    expect(await failureOf("fo(o")).toMatchObject({
      code: "REGEX_INVALID",
      message: "`fo(o` is not a regular expression: unclosed group at character 3",
    });
  });

  test("one that is too large when compiled is refused", async () => {
    expect(await failureOf("(?:\\w{100}){100}")).toMatchObject({ code: "REGEX_TIMEOUT" });
  });

  test("one that takes too long ends the search and names the file", async () => {
    put("a.txt");
    put("big.txt", Buffer.alloc(SEARCH_FILE_BYTES_MAX, "ab"));
    expect(await failureOf("a?")).toMatchObject({
      code: "REGEX_TIMEOUT",
      message: expect.stringContaining("`big.txt`"),
    });
    expect((await count(search, "a.txt", "e?")).total).toBeGreaterThan(1);
  });

  test("literal text is taken as it is", async () => {
    put("a.txt", "a.b axb a.b\n");
    expect(await count(search, ".", "a.b", { literal: true })).toMatchObject({ total: 2 });
    expect(await count(search, ".", "a.b")).toMatchObject({ total: 3 });
  });
});

test("a file or directory that is closed to the kernel's user is counted", async () => {
  put("a.txt");
  chmodSync(put("closed.txt"), 0);
  mkdirSync(join(place.root, "closed-directory"), { mode: 0 });
  const { filesSearched, skipped } = await count(search, ".", "needle");
  // Root may read everything; anybody else is told that something was left out.
  const unreadable = process.getuid?.() === 0 ? 0 : 2;
  expect(skipped).toEqual({ ...NOTHING_SKIPPED, unreadable });
  expect(filesSearched).toBe(unreadable === 0 ? 2 : 1);
});

test("a search that wants none of many files gives others their turn, and ends when it is cancelled", async () => {
  for (let index = 0; index < 800; index += 1) writeFileSync(join(place.root, `f${index}.txt`), "needle");
  const judged = async (isCancelled: boolean) => {
    const controller = new AbortController();
    let times = 0;
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
      if (isCancelled && times > 0) controller.abort();
    }, 0);
    const mayRead = () => {
      times += 1;
      const endMs = performance.now() + 1;
      while (performance.now() < endMs); // as slow as a hostile pattern
      return false;
    };
    const end = await endOf(() =>
      count(searchIn(place, { mayRead, signal: controller.signal }), ".", "needle", { literal: true }),
    );
    clearInterval(other);
    return { times, turns, end };
  };
  const whole = await judged(false); // control
  expect(whole.times).toBe(800);
  expect(whole.turns).toBeGreaterThan(4);
  const cancelled = await judged(true);
  expect(cancelled.end).toBe("CANCELLED");
  expect(cancelled.times).toBeLessThan(800);
});
