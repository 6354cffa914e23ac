// Opening a kernel: one that cannot open gives its claim back, so that it does not count as a living instance.
import { ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openKernel } from "../../src/server/compose.ts";

let stateDirectory: string;
beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), "handrail-compose-"));
  chmodSync(stateDirectory, 0o700);
});
afterEach(() => rmSync(stateDirectory, { recursive: true }));

const options = () => ({
  stateDirectory,
  configDirectory: join(stateDirectory, "none"),
  environment: {},
  onInternalError: () => undefined,
});

test("an open kernel holds an instance, a closed one none", async () => {
  const kernel = await openKernel(options());
  expect(readdirSync(join(stateDirectory, "instances"))).toEqual([`${kernel.instanceId}.lock`]);
  await Promise.all([kernel.close(), kernel.close()]);
  await kernel.close();
  expect(readdirSync(join(stateDirectory, "instances"))).toEqual([]);
});

test("a kernel whose stores cannot be opened leaves no instance behind", async () => {
  writeFileSync(join(stateDirectory, "evidence.key"), "short", { mode: 0o600 });
  await expect(openKernel(options())).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  expect(readdirSync(join(stateDirectory, "instances"))).toEqual([]);
});

/** Processes and threads that keep a test's process alive, or would; by kind. */
const kinds = () => process.getActiveResourcesInfo().filter((kind) => /Worker|MessagePort|Process/.test(kind)).length;

test("a kernel whose loaded plugins cannot be recorded gives back its claim, its stores and their processes", async () => {
  const config = join(stateDirectory, "config");
  mkdirSync(config, { mode: 0o700 });
  const zod = new URL("../../node_modules/zod/index.js", import.meta.url).href;
  const plugin = `import { z } from "${zod}";\nexport default { name: "own", description: "Does something.", parameters: z.object({}),
  capability: { approval: { level: "auto" } }, execute: async () => ({ success: true, output: "" }) };\n`;
  writeFileSync(join(config, "own.mjs"), plugin, { mode: 0o600 });
  writeFileSync(join(config, "handrail.yaml"), "plugins: [{ module: own.mjs }]\n", { mode: 0o600 });
  const open = () => openKernel({ ...options(), configDirectory: config });
  await (await open()).close(); // control: it opens, so that only what follows is in its way
  const before = kinds();
  const closed: string[] = [];
  const end = ChildProcess.prototype.kill;
  vi.spyOn(ChildProcess.prototype, "kill").mockImplementation(function (this: ChildProcess, signal) {
    closed.push("process");
    return end.call(this, signal);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  rmSync(join(stateDirectory, "ledger.db"));
  mkdirSync(join(stateDirectory, "ledger.db"), { mode: 0o700 });
  await expect(open()).rejects.toMatchObject({ code: expect.stringMatching(/STORE|LEDGER/) });
  expect(readdirSync(join(stateDirectory, "instances"))).toEqual([]);
  expect(closed).toContain("process");
  await vi.waitFor(() => expect(kinds()).toBeLessThanOrEqual(before), { timeout: 20_000 });
  rmSync(join(stateDirectory, "ledger.db"), { recursive: true });
}, 60_000);

test("a plugin that cannot be registered leaves no process of the others behind", async () => {
  const config = join(stateDirectory, "config");
  mkdirSync(config, { mode: 0o700 });
  const zod = new URL("../../node_modules/zod/index.js", import.meta.url).href;
  const plugin = `import { z } from "${zod}";\nexport default { name: "own", description: "Does something.", parameters: z.object({}),
  capability: { approval: { level: "auto" } }, execute: async () => ({ success: true, output: "" }) };\n`;
  for (const name of ["one.mjs", "two.mjs"]) writeFileSync(join(config, name), plugin, { mode: 0o600 });
  const settings = "plugins: [{ module: one.mjs }, { module: two.mjs }]\n";
  writeFileSync(join(config, "handrail.yaml"), settings, { mode: 0o600 });
  const before = kinds();
  await expect(openKernel({ ...options(), configDirectory: config })).rejects.toThrow("already registered");
  await vi.waitFor(() => expect(kinds()).toBeLessThanOrEqual(before), { timeout: 20_000 });
}, 60_000);
