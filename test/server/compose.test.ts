// Opening a kernel: one that cannot open gives its claim back, so that it does not count as a living instance.
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
