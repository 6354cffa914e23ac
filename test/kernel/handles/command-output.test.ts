/** What a command's answer holds, however much it wrote and however it ended. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../../src/tools/shell/shell.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";

const TEST_MS_MAX = 120_000;
/** Runs `shell` without asking anybody. */
const PERMIT = `@id("test.run") @message("runs") permit (principal, action == Handrail::Action::"shell", resource);`;

async function running(sandbox: { readonly output_mb?: number } = {}) {
  const kernel = await memoryKernel({ tools: [shell], policies: PERMIT, sandbox });
  return {
    ...kernel,
    ask: async (command: string, more = {}) => (await kernel.call("shell", { command, ...more })).outcome,
  };
}

test("both streams full of what JSON writes longest: every field is there, and 100,000 characters of both together", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { ask } = await running();
  // U+0001 takes six bytes in JSON
  const flood = (fd: number) => `head -c 300000 /dev/zero | tr '\\0' '\\1' >&${fd}`;
  const outcome = await ask(`${flood(1)}; ${flood(2)}; exit 3`);
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  const { exit_code, stdout, stderr, stdout_size, stderr_size } = outcome.data as {
    exit_code: number;
    stdout: string;
    stderr: string;
    stdout_size: object;
    stderr_size: object;
  };
  expect([exit_code, outcome.truncated, outcome.stored]).toEqual([3, true, undefined]);
  const written = (text: string) => text.split("\u0001").length - 1;
  expect(written(stdout) + written(stderr)).toBe(100_000);
  expect([stdout_size, stderr_size]).toEqual([
    { bytes: 300_000, omitted_bytes: 250_000 },
    { bytes: 300_000, omitted_bytes: 250_000 },
  ]);
});

test("a command whose time is over is TIMEOUT, with what it wrote and did until then", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { ask, root, ledger } = await running();
  // it ends only by being ended; the time is given so that it has begun also on a slow machine
  const outcome = await ask("echo said > made.txt; echo so far; exec sleep 86399", { timeout_ms: 8000 });
  expect(outcome).toMatchObject({ kind: "error", code: "TIMEOUT", retryable: false });
  if (outcome.kind !== "error") return;
  expect(outcome.message).toContain("its time was over");
  expect(outcome.message).toContain("(1 created, 0 changed, 0 removed)");
  expect(outcome.message).toContain("end of stdout:\nso far");
  expect(outcome.suggestion).toContain("`timeout_ms`");
  expect(existsSync(join(root, "made.txt"))).toBe(true);
  expect(ledger.of("tool_executed").at(-1)?.payload).toMatchObject({ success: false, errorCode: "TIMEOUT" });
});

test("a command that ends in time, and one that fails, are no errors of the tool", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { ask } = await running();
  expect(await ask("true", { timeout_ms: 60_000 })).toMatchObject({ kind: "success", data: { exit_code: 0 } });
  expect(await ask("exit 124")).toMatchObject({ kind: "success", data: { exit_code: 124 } });
});

test("a command that writes more than it may is OUTPUT_LIMIT; one that writes as much is not", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { ask } = await running({ output_mb: 1 });
  const bytes = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`;
  expect(await ask(bytes(2 ** 20))).toMatchObject({ kind: "success", data: { exit_code: 0 } });
  const outcome = await ask(`${bytes(2 ** 20 + 1)}; exec sleep 86399`);
  expect(outcome).toMatchObject({ kind: "error", code: "OUTPUT_LIMIT", retryable: false });
  if (outcome.kind === "error") expect(outcome.suggestion).toContain("write less");
});
