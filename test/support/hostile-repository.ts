/** Repositories for attacks on the tool `git`, with the same attack by plain git beside it as the control. */
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../src/tools/git/git.ts";
import { newRepository, type PlainGit } from "./git-place.ts";
import { type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** What stands in files of secret zones. */
export const SECRET = "the-only-copy-of-a-hidden-thing";

/** The kernel with `git`, in a repository on the branch `work`. */
export interface Place {
  readonly plain: PlainGit;
  readonly root: string;
  readonly ask: (operation: string, ...args: readonly string[]) => Promise<string>;
  /** What the ledger has of the last call that was done: everything that it touched. */
  readonly touched: () => unknown;
  /** Whether a program of the repository's has run, and takes the trace away. */
  readonly hasRun: () => boolean;
  /** A program that leaves a trace in the workspace, and passes on what it gets. */
  readonly program: string;
}

/** A new repository with one commit, and a program in it that leaves a trace. */
export async function place(options: Partial<MemoryKernelOptions> = {}): Promise<Place> {
  const kernel = await memoryKernel({ tools: [git], preset: "open", ...options });
  const { root } = kernel;
  const plain = newRepository(root);
  plain.commit("begin", { "a.txt": "alpha\n", "b.txt": "beta\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  const trace = join(root, "TRACE");
  const program = join(root, "program.sh");
  writeFileSync(program, `#!/bin/sh\ntouch "$(dirname "$0")/TRACE"\ntimeout 1 cat\nexit 0\n`);
  chmodSync(program, 0o755);
  return {
    plain,
    root,
    program,
    async ask(operation, ...args) {
      const { outcome } = await kernel.call("git", { operation, args });
      if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
      if (outcome.kind === "denied") return `${outcome.denial.reason}: ${outcome.denial.message}`;
      return outcome.kind === "error" ? `${outcome.code}: ${outcome.message}` : JSON.stringify(outcome.data);
    },
    touched: () => kernel.ledger.of("tool_executed").at(-1)?.payload["accesses"],
    hasRun() {
      const ran = existsSync(trace);
      rmSync(trace, { force: true });
      return ran;
    },
  };
}
