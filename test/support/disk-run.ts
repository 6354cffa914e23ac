/** Runs commands whose workspace or views lie on a disk that fills up. */
import { ToolFailure } from "../../src/model/outcome/failure.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { unnotedNames } from "./files-fixture.ts";
import { EVERYTHING, LIMITS } from "./sandbox-place.ts";

/** What came of a command, or why it did not run: code, message, and whether that left nothing. */
export interface DiskRun {
  readonly hasRun: boolean;
  readonly endedBy?: string | undefined;
  readonly problem: readonly [string, string, boolean] | undefined;
}

/** Runs a command of the shell in `root`. */
export async function runOnDisk(
  sandbox: Sandbox,
  root: string,
  command: string,
  {
    signal = new AbortController().signal,
    onOutput = () => undefined,
  }: {
    readonly signal?: AbortSignal;
    readonly onOutput?: () => void;
  } = {},
): Promise<DiskRun> {
  const run = {
    root,
    judge: EVERYTHING,
    landing: { newFiles: unnotedNames },
    command: ["bash", "-c", command],
    workDir: "/workspace",
    environment: {},
    limits: LIMITS,
  } as const;
  const ended = await sandbox
    .run(run, { stdout: onOutput, stderr: () => undefined }, signal)
    .catch((error: unknown) => {
      if (error instanceof ToolFailure) return { problem: error };
      throw error;
    });
  const { problem } = ended;
  return {
    hasRun: "exitCode" in ended,
    endedBy: "endedBy" in ended ? ended.endedBy : undefined,
    problem: problem && [problem.code, problem.message, problem.constructor.name === "FailureWithoutEffect"],
  };
}
