/** Says why a command cannot run in the sandbox of this machine, or how it ended where nobody knows. */
import { FailureWithoutEffect, ToolFailure } from "../../model/outcome/failure.ts";
import { isProgram, missingProgram } from "../host/programs.ts";
import { PROCESSORS, type Processor } from "../plan/syscall-numbers.ts";
import { SOCAT } from "./beginning.ts";
import type { RunEnd } from "./launch.ts";

/** A command that ran has left something, also where its end is not known. */
export function unknownEnd(error: unknown): RunEnd & { readonly problem: ToolFailure } {
  if (!(error instanceof ToolFailure) || error.code !== "OUTCOME_UNKNOWN") throw error;
  return { exitCode: undefined, endedBy: undefined, durationMs: 0, problem: error };
}

/** Requires socat, over which a command reaches the proxy. */
export function requireSocat(): void {
  if (isProgram(SOCAT)) return;
  throw missingProgram(
    "a command cannot have a way to the network here, because socat is not installed",
    "socat",
    ", or run the command without the network",
  );
}

/** The processor of this machine, if commands can be contained on it. */
export function requireProcessor(): Processor {
  const found = PROCESSORS.find((name) => name === process.arch);
  if (found !== undefined && process.platform === "linux") return found;
  throw new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `commands cannot be contained on ${process.platform} ${process.arch}; the command did not run`,
    "ask the operator to run the kernel on Linux, x86-64 or arm64, for instance in a virtual machine",
  );
}

/** The failure of a command that nobody waits for any more before it has begun. */
export function neverRan(): ToolFailure {
  return new FailureWithoutEffect(
    "CANCELLED",
    "the call was cancelled before the command ran",
    "send it again if it is still wanted",
  );
}

/** The failure of a command that comes while the kernel is being closed. */
export function isEnding(): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    "the kernel is being closed; the command did not run",
    "try again once it has started again",
  );
}

/** Without them the run would go by what lies in the workspace. */
export function noOwnFiles(backend: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `this runs in a sandbox alone, and \`sandbox.backend\` is \`${backend}\`; nothing ran`,
    "ask the operator for the backend `bwrap` or `container`",
  );
}

/** The failure of a command that is one too many. */
export function tooManyRuns(): ToolFailure {
  return new ToolFailure("RESOURCE_BUSY", "too many commands run at once", {
    suggestion: "wait for one of them to end",
    retryAfterMs: 500,
  });
}

/** The failure of a command whose arguments the machine does not take. */
export function tooManyArguments(): ToolFailure {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    "the arguments are longer, all together, than the machine takes for one program; the command did not run",
    "split the work into several calls",
  );
}
