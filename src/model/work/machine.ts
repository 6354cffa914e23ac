/**
 * Defines the handle through which system tools reach the machine outside the sandbox.
 *
 * It runs programs that the operator lists, and looks at what is installed.
 */
import type { ProgramOutcome } from "./exec.ts";

/** A listed program that a tool wants to run on the machine. */
export interface MachineCommand {
  /** The absolute path that the operator lists, and its arguments: the very command that analysis named. */
  readonly argv: readonly [string, ...string[]];
  /** It needs the rights of root, which the operator grants for this program. */
  readonly asRoot: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** What came of a program that was started. */
export interface MachineOutcome extends ProgramOutcome {
  /** The user that it ran as. */
  readonly userId: number;
}

/** A program of the machine. */
export interface FoundProgram {
  /** Where it was found. */
  readonly path: string;
  /** The same with links followed. */
  readonly realPath: string;
  /** Why it is not to be run, as the rest of a sentence about it; absent when it is. */
  readonly problem?: string;
  /** SHA-256 of the file; absent when it is not to be run, or cannot be read. */
  readonly sha256?: string;
  readonly sizeBytes: number;
}

/** The machine for one call. */
export interface MachineAccess {
  /**
   * Runs a listed program; its output is reported as progress while it runs.
   * @throws ToolFailure NOT_SUPPORTED or PERMISSION_DENIED when it did not run; Refusal when it may not run
   */
  readonly run: (command: MachineCommand) => Promise<MachineOutcome>;
  /**
   * The program of that name: where the operator says that it is, or else in the directories where programs are looked
   * for.
   */
  readonly find: (name: string) => Promise<FoundProgram | undefined>;
}
