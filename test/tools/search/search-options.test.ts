// What searches and listings can be told: case, words, lines, globs, a budget of tokens, and where to go on.
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { type MemoryKernel, memoryKernel } from "../../support/memory-kernel.ts";

async function kernelWith(files: Readonly<Record<string, string | Buffer>>): Promise<MemoryKernel> {
  const kernel = await memoryKernel();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(kernel.root, path)), { recursive: true });
    writeFileSync(join(kernel.root, path), content);
  }
  return kernel;
}

async function dataOf(kernel: MemoryKernel, tool: string, args: JsonObject): Promise<JsonObject> {
  const { outcome } = await kernel.call(tool, args);
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

const places = ({ results }: JsonObject) =>
  (results as unknown as readonly { readonly path: string; readonly line: number }[]).map(
    ({ path, line }) => `${path}:${line}`,
  );
const find = async (kernel: MemoryKernel, args: JsonObject) =>
  places(await dataOf(kernel, "search_file", { path: ".", ...args }));

const TEXT = "Alpha beta\nalphabet\nALPHA(1)\na.c abc\nstart\nmiddle\nend\n";

describe("search_file", () => {
  test.each([
    ["sensitive by default", { regex: "alpha" }, [2]],
    ["insensitive", { regex: "alpha", case: "insensitive" }, [1, 2, 3]],
    ["smart without a capital", { regex: "alpha", case: "smart" }, [1, 2, 3]],
    ["smart with a capital", { regex: "Alpha", case: "smart" }, [1]],
    ["smart where the only capital belongs to a class", { regex: "alpha\\W", case: "smart" }, [1, 3]],
    ["words", { regex: "alpha", case: "insensitive", word: true }, [1, 3]],
    ["words of an alternation", { regex: "bet|beta", word: true }, [1]],
    ["literal words", { regex: "a.c", literal: true, word: true }, [4]],
    ["literal without case", { regex: "ALPHA(", literal: true, case: "insensitive" }, [3]],
    ["over lines only where asked", { regex: "start.*end" }, []],
    ["over lines", { regex: "start.*end", multiline: true }, [5]],
    ["over lines, insensitive", { regex: "START.*END", multiline: true, case: "insensitive" }, [5]],
  ])("%s", async (_name, args, lines) => {
    const kernel = await kernelWith({ "a.txt": TEXT });
    expect(await find(kernel, args as unknown as JsonObject)).toEqual(lines.map((line) => `a.txt:${line}`));
  });

  test("leaves out what `exclude` names, by name or by path, beside `glob`", async () => {
    const kernel = await kernelWith({ "a.ts": "x\n", "a.min.js": "x\n", "dist/b.ts": "x\n", "src/c.ts": "x\n" });
    expect(await find(kernel, { regex: "x", exclude: "*.min.js" })).toEqual(["a.ts:1", "dist/b.ts:1", "src/c.ts:1"]);
    expect(await find(kernel, { regex: "x", glob: "*.ts", exclude: "dist/**" })).toEqual(["a.ts:1", "src/c.ts:1"]);
    const { outcome } = await kernel.call("search_file", { path: ".", regex: "x", exclude: "[" });
    expect(outcome).toMatchObject({ kind: "error", code: "NOT_SUPPORTED" });
  });

  test("a long literal is no expression, and says so", async () => {
    const kernel = await kernelWith({ "a.txt": "x\n" });
    const regex = "y".repeat(2_000);
    expect(await find(kernel, { regex, literal: true })).toEqual([]);
    const { outcome } = await kernel.call("search_file", { path: ".", regex, literal: true, word: true });
    expect(outcome.kind).toBe("denied"); // by validation
  });

  test("goes on where it was cut, until everything was seen once and in order", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 90 }, (_, file) => [`d${file % 7}/f${file}.txt`, `${"hit\nmiss\n".repeat(file % 5)}`]),
    );
    const kernel = await kernelWith(files);
    const all = await find(kernel, { regex: "hit", max_results: 1000 });
    const pages: string[] = [];
    let after: JsonObject = {};
    for (let page = 0; page < 200; page += 1) {
      const data = await dataOf(kernel, "search_file", { path: ".", regex: "hit", max_results: 7, ...after });
      pages.push(...places(data));
      if (data["next"] === undefined) break;
      after = data["next"] as JsonObject;
    }
    expect(pages).toEqual(all);
    expect(all).toHaveLength(180);
  });

  test("keeps to its budget of tokens, and says how to go on", async () => {
    const kernel = await kernelWith({ "a.txt": `${"some words of a line\n".repeat(500)}` });
    const args = { path: ".", regex: "words", max_tokens: 200, max_results: 1000 };
    const data = await dataOf(kernel, "search_file", args);
    expect(JSON.stringify(data["results"]).length).toBeLessThanOrEqual(800);
    expect(data).toMatchObject({ truncated: true, next: { after: { path: "a.txt" } } });
    const more = await dataOf(kernel, "search_file", { ...args, ...(data["next"] as JsonObject) });
    expect(places(more)[0]).toBe(`a.txt:${places(data).length + 1}`);
  });

  test("going on after a file that is gone says to search again", async () => {
    const kernel = await kernelWith({ "a.txt": "x\n" });
    const after = { path: "gone.txt", line: 1 };
    const { outcome } = await kernel.call("search_file", { path: ".", regex: "x", after });
    expect(outcome).toMatchObject({
      kind: "error",
      code: "FILE_NOT_FOUND",
      suggestion: expect.stringContaining("without `after`"),
    });
  });

  test("odd files are left out by reason, or searched as bytes, and never hang it", async () => {
    const kernel = await kernelWith({
      "utf16.txt": Buffer.from("\ufeffneedle\n", "utf16le"),
      "latin.txt": Buffer.from("caf\xe9 needle\n", "latin1"),
      "bundle.js": `${"a(b),".repeat(400_000)}needle`,
      "plain.txt": "needle\n",
    });
    writeFileSync(join(kernel.root, "sparse.bin"), "");
    truncateSync(join(kernel.root, "sparse.bin"), 2 ** 30);
    symlinkSync(".", join(kernel.root, "loop"));
    const data = await dataOf(kernel, "search_file", { path: ".", regex: "needle" });
    expect(places(data)).toEqual(["bundle.js:1", "latin.txt:1", "plain.txt:1"]);
    expect(data["skipped"]).toMatchObject({ binary: 1, too_large: 1 });
  });
});

describe("list_files", () => {
  const FILES = { "a.ts": "1", "b.md": "22", "src/c.ts": "3", "src/deep/d.ts": "4", "src/deep/e.md": "5" };
  const paths = ({ entries }: JsonObject) =>
    (entries as unknown as readonly { readonly path: string }[]).map(({ path }) => path);

  test("by glob, by kind, and by both", async () => {
    const kernel = await kernelWith(FILES);
    const list = async (args: JsonObject) =>
      paths(await dataOf(kernel, "list_files", { path: ".", recursive: true, ...args })).filter((path) =>
        /^(a|b|src)\b/.test(path),
      );
    expect(await list({ glob: "*.ts" })).toEqual(["a.ts", "src/c.ts", "src/deep/d.ts"]);
    expect(await list({ glob: "src/*.ts" })).toEqual(["src/c.ts"]);
    expect(await list({ kinds: ["directory"] })).toEqual(["src", "src/deep"]);
    expect(await list({ glob: "*d*", kinds: ["file"] })).toEqual(["b.md", "src/deep/d.ts", "src/deep/e.md"]);
    const { outcome } = await kernel.call("list_files", { glob: "[" });
    expect(outcome).toMatchObject({ kind: "error", code: "NOT_SUPPORTED" });
  });

  test("goes on where it was cut, by entries or by tokens", async () => {
    const kernel = await kernelWith(
      Object.fromEntries(Array.from({ length: 60 }, (_, file) => [`d${file % 4}/file${file}.txt`, "x"])),
    );
    const all = paths(await dataOf(kernel, "list_files", { recursive: true }));
    for (const budget of [{ max_entries: 9 }, { max_tokens: 64 }]) {
      const pages: string[] = [];
      let after: JsonObject = {};
      for (let page = 0; page < 80; page += 1) {
        const data = await dataOf(kernel, "list_files", { recursive: true, ...budget, ...after });
        pages.push(...paths(data));
        if (data["next"] === undefined) break;
        after = data["next"] as JsonObject;
      }
      expect(pages).toEqual(all);
    }
    const { outcome } = await kernel.call("list_files", { after: "gone" });
    expect(outcome).toMatchObject({ kind: "error", code: "FILE_NOT_FOUND" });
  });
});
