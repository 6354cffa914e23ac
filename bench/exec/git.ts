/**
 * What `git_status` costs on a repository of 10,000 files, through the whole kernel, beside plain git with the same
 * arguments plus the start of a sandbox for `true`, measured in the same round.
 */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { createKernel } from "../../src/server/doors/library.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { createExecPlace } from "./place.ts";

const FILES = 10_000;
const RUNS = 5;
const PLAIN = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"] as const;

/** The figures of git. */
export async function measureGit(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const isQuick = effort.rounds === 1;
  const runs = isQuick ? 1 : RUNS;
  const { path } = playground.workspace("git", isQuick ? 100 : FILES);
  const plainly = (...args: readonly string[]) => {
    const environment = { ...playground.environment, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
    const person = [
      "-c",
      "user.name=bench",
      "-c",
      "user.email=bench@example.com",
      "-c",
      "gc.auto=0",
      "-c",
      "maintenance.auto=false",
    ];
    const { status, stderr } = spawnSync("git", [...person, ...args], {
      cwd: path,
      env: environment,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  };
  plainly("init", "--quiet", "--initial-branch=work", "--template=");
  plainly("add", "--all");
  plainly("commit", "--quiet", "--no-verify", "-m", "begin");
  // The peer has a repository of its own, so that neither refreshes the other's index.
  const peer = join(playground.directory("git-peer"), "tree");
  cpSync(path, peer, { recursive: true, preserveTimestamps: true });
  using place = createExecPlace(playground);
  const kernel = await createKernel({
    stateDirectory: playground.directory("state-git"),
    environment: playground.environment,
  });
  try {
    const session = await kernel.openSession({ workspace: path });
    const each = async (run: () => Promise<unknown>): Promise<number> => {
      const startedMs = performance.now();
      for (let index = 0; index < runs; index += 1) await run();
      return (performance.now() - startedMs) / runs;
    };
    const ours = async () => {
      const { result } = await session.call("git_status", {});
      if (result.status !== "success") throw new Error(JSON.stringify(result));
    };
    const theirs = async () => {
      const { status } = spawnSync("git", [...PLAIN], { cwd: peer, env: playground.environment, stdio: "ignore" });
      if (status !== 0) throw new Error(`plain git ended with ${status}`);
      await place.contained("true");
    };
    await each(ours);
    await each(theirs);
    const subject = {
      id: "git-status",
      what: `\`git_status\` of ${isQuick ? 100 : FILES} files`,
      peer: "plain git, plus a sandboxed `true`",
      unit: "ms",
      better: "lower",
    } as const;
    return [
      await interleave(
        subject,
        effort.rounds,
        () => each(ours),
        () => each(theirs),
      ),
    ];
  } finally {
    await kernel.close();
  }
}
