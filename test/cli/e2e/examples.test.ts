// Every example program runs and checks what it shows.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

test("the library example reads, is refused, and cleans up", async () => {
  const program = fileURLToPath(new URL("../../../examples/library/main.ts", import.meta.url));
  const { stdout } = await run(process.execPath, [program]);
  expect(stdout).toContain("read notes.md:");
  expect(stdout).toContain("WORKSPACE_BLOCKED_ZONE");
});

test.each([
  ["plugins-meao", "Exit code: 3"],
  ["plugins-brio", "done: the notes are written"],
])("the example %s does what it says", async (name, words) => {
  const program = fileURLToPath(new URL(`../../../examples/${name}/main.ts`, import.meta.url));
  const { stdout } = await run(process.execPath, [program]);
  expect(stdout).toContain(words);
});

test("the example service passes its own tests", async () => {
  const service = fileURLToPath(new URL("../../../examples/service/", import.meta.url));
  const { NODE_TEST_CONTEXT: _outer, ...environment } = process.env;
  const { stdout } = await run(process.execPath, ["--test"], { cwd: service, env: environment });
  expect(stdout).toMatch(/pass 2/);
});
