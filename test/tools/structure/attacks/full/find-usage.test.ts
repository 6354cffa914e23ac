/** Files that are made to end, delay or flood the parser harm neither the kernel nor what is said of other files. */
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { openStructure } from "../../../../support/structure-place.ts";

const FINE = { "fine.ts": "export function load() {}\nload();\n" };
const FINE_USAGES = [
  { path: "fine.ts", line: 1, kind: "definition" },
  { path: "fine.ts", line: 2, kind: "call" },
];

test.each([
  ["deep nesting", "a.ts", `${"(".repeat(200_000)}load${")".repeat(200_000)};\n`],
  ["many usages in deep nesting", "a.ts", `${"{".repeat(20_000)}${"load();".repeat(20_000)}`],
  ["many usages", "a.ts", "load();\n".repeat(120_000)],
  ["one long line", "a.py", `x = [${"load,".repeat(150_000)}]\n`],
  ["nothing but openings", "a.rs", `load ${"<(".repeat(250_000)}`],
  ["nested templates", "a.ts", `load; ${"`${".repeat(100_000)}`],
])("%s: other files are answered, and what was left out is said", { timeout: 120_000 }, async (_, name, hostile) => {
  const { call } = await openStructure({ ...FINE, [name]: hostile });
  const answer = await call("find_usage", { symbol: "load", kinds: ["definition"] });
  expect(answer["usages"]).toMatchObject(FINE_USAGES.slice(0, 1));
  expect(await call("find_usage", { symbol: "load", path: "fine.ts" })).toMatchObject({ usages: FINE_USAGES });
});

/** Processes that this one started, by their command lines. */
function children(): readonly string[] {
  const { pid } = process;
  return readdirSync("/proc").flatMap((name) => {
    try {
      const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
      return parent === String(pid) ? [readFileSync(`/proc/${name}/cmdline`, "utf8")] : [];
    } catch {
      return []; // it has ended, or is no process
    }
  });
}

test("parsers are loaded by a program apart, never by the kernel", async () => {
  const { call } = await openStructure(FINE);
  await call("find_usage", { symbol: "load" });
  expect(children().some((line) => line.includes("code-program"))).toBe(true);
  // Tests share a process with nothing that parses: the parser's library is not mapped here.
  expect(readFileSync("/proc/self/maps", "utf8")).not.toContain("ast-grep");
});

test("links in a circle and to the outside, and files that go while they are looked at, are no usages", async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`many/f${at}.ts`, "load();\n"]));
  const { call, place } = await openStructure({ ...FINE, ...files });
  place.put("outside/other.ts", "load();\n");
  symlinkSync(place.outside, join(place.workspace, "out"));
  symlinkSync("circle", join(place.workspace, "circle"));
  symlinkSync("..", join(place.workspace, "many", "up"));
  const asked = call("find_usage", { symbol: "load", max_tokens: 8000 });
  for (let at = 0; at < 100; at += 1) rmSync(join(place.workspace, "many", `f${at}.ts`));
  const answer = await asked;
  const paths = new Set((answer["usages"] as { path: string }[]).map(({ path }) => path));
  expect(paths.has("many/f150.ts")).toBe(true);
  expect([...paths].filter((path) => /other|up\/|out\//.test(path))).toEqual([]);
  expect(existsSync(join(place.workspace, "many", "f150.ts"))).toBe(true);
});

test("an answer from a file with a secret is labelled as reading the file is", async () => {
  const token = "ghp_okapiZebraGiraffe0123456789abcdefABC";
  const { labelOf } = await openStructure({ ...FINE, "deploy.ts": `deploy("${token}");\n` });
  const plain = await labelOf("find_usage", { symbol: "load" });
  expect(plain).toBe(await labelOf("read_file", { path: "fine.ts" }));
  const withSecret = await labelOf("find_usage", { symbol: "deploy" });
  expect(withSecret).not.toBe(plain);
  expect(withSecret).toBe(await labelOf("read_file", { path: "deploy.ts" }));
});
