// Git in containers: it works there by the same plan, and sees the kernel's settings in place of what the repository
// says. A history with a secret file in it is hidden there; all kinds of histories are in `full/`.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../../../src/tools/git/git.ts";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { newRepository } from "../../../support/git-place.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { overContainers } from "../../../support/over-containers.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

/** A kernel in a repository with one commit, on the branch `work`. */
async function place() {
  const kernel = await memoryKernel({ tools: [git, shell], preset: "open", backend: testedBackend });
  const plain = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  const ask = async (operation: string, ...args: readonly string[]): Promise<string> => {
    const { outcome } = await kernel.call("git", { operation, args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return JSON.stringify(outcome.kind === "success" ? outcome.data : outcome);
  };
  const run = async (command: string): Promise<string> => {
    const { outcome } = await kernel.call("shell", { command });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return JSON.stringify(outcome.kind === "success" ? outcome.data : outcome);
  };
  return { kernel, plain, ask, run };
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

  test("a secret file that was removed again, or that is only staged, cannot be read out of the repository", async () => {
    const { kernel, plain, run } = await place();
    plain.commit("add", { "secrets/k": "hidden-in-the-past" });
    plain.git("rm", "--quiet", "secrets/k");
    plain.git("commit", "--quiet", "-m", "remove");
    plain.put("config/.env.local", "hidden-in-the-index");
    plain.git("add", "--force", "config/.env.local");
    const read = "git -c safe.directory='*' show HEAD~1:secrets/k :config/.env.local";
    const answer = await run(read);
    expect(answer).not.toContain("hidden-in");
    expect(answer).toContain('"hidden_repositories":["."]');
    expect(await run('ls -A .git; echo "($?)"')).toContain('"(0)\\n"');
    await kernel.rezone({ secret: [] });
    expect(await run(read)).toContain("hidden-in-the-pasthidden-in-the-index");
  });
});
