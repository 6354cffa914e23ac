// What the set-up runs: whoever waits for it is told that it goes on.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../../scripts/setup/run-command.mjs";

test("a command that takes its time is reported while it runs, and no more afterwards", async () => {
  const directory = mkdtempSync(join(tmpdir(), "handrail-wait-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const told = join(directory, "told");
  const seconds: number[] = [];
  // it ends when somebody was told that it runs, and not before
  const ended = await runCommand("sh", ["-c", `until [ -e '${told}' ]; do sleep 0.05; done`], {
    onWait: (passed) => {
      seconds.push(passed);
      writeFileSync(told, "");
    },
  });
  expect([ended.code, existsSync(told), seconds.length]).toEqual([0, true, expect.any(Number)]);
  expect(seconds[0]).toBeGreaterThanOrEqual(1);
});

test("one that ends at once is not", async () => {
  const seconds: number[] = [];
  expect(await runCommand("true", [], { onWait: (passed) => void seconds.push(passed) })).toMatchObject({ code: 0 });
  expect(seconds).toEqual([]);
});
