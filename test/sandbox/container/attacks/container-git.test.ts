// Git in containers: it works there by the same plan, and sees the kernel's settings in place of what the repository
// says.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { newRepository } from "../../../support/git-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { overContainers } from "../../../support/over-containers.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

/** A kernel in a repository with one commit, on the branch `work`. */
async function place() {
  const kernel = await memoryKernel({ tools: [git], preset: "open", backend: testedBackend });
  const plain = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  const ask = async (operation: string, ...args: readonly string[]): Promise<string> => {
    const { outcome } = await kernel.call("git", { operation, args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return JSON.stringify(outcome.kind === "success" ? outcome.data : outcome);
  };
  return { kernel, plain, ask };
}

await overContainers(async () => {
  test("what was changed is seen, committed and merged", async () => {
    const { kernel, plain, ask } = await place();
    plain.put("a.txt", "changed\n");
    plain.put(".env", "KEY=value\n");
    expect(await ask("STATUS")).toContain('"changed":[{"path":"a.txt","status":"modified"}]');
    expect(await ask("ADD", "a.txt")).toContain('"staged":["a.txt"]');
    expect(await ask("COMMIT", "-m", "change a")).toContain('"subject":"change a"');
    plain.git("checkout", "--quiet", "main");
    expect(await ask("MERGE", "work")).not.toContain("error");
    expect(plain.git("log", "-1", "--format=%an %s")).toBe("agent change a\n");
    expect(readFileSync(join(kernel.root, "a.txt"), "utf8")).toBe("changed\n");
    expect(kernel.ledger.of("tool_executed").at(-1)?.payload).toMatchObject({ sandbox: { backend: "container" } });
  });

  test("a program that the repository's settings name is not run, and the settings stay as they are", async () => {
    const { kernel, plain, ask } = await place();
    const trace = join(kernel.root, "TRACE");
    const program = join(kernel.root, "program.sh");
    writeFileSync(program, '#!/bin/sh\ntouch "$(dirname "$0")/TRACE"\n');
    chmodSync(program, 0o755);
    plain.git("config", "core.fsmonitor", program);
    const before = readFileSync(join(kernel.root, ".git/config"), "utf8");
    plain.git("status");
    expect(existsSync(trace)).toBe(true);
    rmSync(trace);
    plain.put("a.txt", "changed\n");
    for (const [operation = "", ...args] of [["STATUS"], ["ADD", "a.txt"], ["COMMIT", "-m", "change a"]])
      await ask(operation, ...args);
    expect(existsSync(trace)).toBe(false);
    expect(readFileSync(join(kernel.root, ".git/config"), "utf8")).toBe(before);
    expect(await ask("LOG")).toContain("change a");
  });
});
