/** Starts child processes for fault tests, reads what they print, and makes sure that none outlives its test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A child that prints one fact per line. */
export interface Child {
  readonly process: ChildProcess;
  /** Complete lines so far: a line cut by the child's death is not one. */
  readonly lines: () => readonly string[];
  /** Resolves once a line that starts so was printed; rejects when the child ends first. */
  readonly printed: (prefix: string) => Promise<string>;
  /** Resolves with the signal or the exit code. */
  readonly ended: Promise<string>;
}

/** Runs `children/<name>.ts` with arguments; `before` is a command that runs it, such as `unshare`. */
export function startChild(name: string, childArguments: readonly string[], before: readonly string[] = []): Child {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const [command = process.execPath, ...rest] = [...before, process.execPath, script, ...childArguments];
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const lines = (): readonly string[] => text.split("\n").slice(0, -1);
  const ended = once(child, "close").then(([code, signal]) => String(signal ?? code));
  const printed = async (prefix: string): Promise<string> => {
    for (;;) {
      const line = lines().find((candidate) => candidate.startsWith(prefix));
      if (line !== undefined) return line;
      const more = await Promise.race([once(child.stdout, "data"), ended]);
      if (typeof more === "string" && !lines().some((candidate) => candidate.startsWith(prefix))) {
        throw new Error(`the child ended with ${more} before it printed \`${prefix}\`: ${text}`);
      }
    }
  };
  return { process: child, lines, printed, ended };
}
