// A search that finds no free descriptor fails and may be repeated; it never leaves files out of its numbers.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const DIRECTORIES = 60;

async function endsWith(limit: number, name: string, ...args: readonly string[]): Promise<readonly string[]> {
  const child = new URL(`../../../support/children/${name}.ts`, import.meta.url).pathname;
  const script = 'ulimit -n "$1"; shift; exec "$@"';
  const command = [process.execPath, child, ...args];
  const { stdout } = await run("sh", ["-c", script, "sh", String(limit), ...command], { timeout: 120_000 });
  const ends: unknown = JSON.parse(stdout);
  return Array.isArray(ends) ? ends.map(String) : [];
}

test("every search counts everything or says that it could not", async () => {
  const ends = await endsWith(128, "search-descriptors", String(DIRECTORIES), "40");
  expect(ends).toHaveLength(42);
  expect(ends[0]).toBe(`${DIRECTORIES} and 0`);
  expect(ends.at(-1)).toBe(`${DIRECTORIES} and 0`);
  expect([...new Set(ends)].sort()).toEqual([`${DIRECTORIES} and 0`, "RESOURCE_BUSY"]);
});

test("a look for secrets that finds no free descriptor is no reason to show less", async () => {
  expect(await endsWith(128, "search-hidden-descriptors")).toEqual(["1", "RESOURCE_BUSY", "1"]);
});
