/**
 * Defines the types between the backends and the supervision of their runs.
 *
 * They describe what a backend makes of a plan, and what comes of a run.
 */

/** Why a run was ended from outside. */
export type EndedBy = "timeout" | "output" | "memory" | "cancelled";

/** What came of a run whose command was started. */
export interface RunEnd {
  /** The command's; 128 and a signal's number where a signal ended it. */
  readonly exitCode: number | undefined;
  readonly endedBy: EndedBy | undefined;
  readonly durationMs: number;
}

/** Where the command's output goes; must not throw. */
export interface RunOutput {
  readonly stdout: (piece: Uint8Array) => void;
  readonly stderr: (piece: Uint8Array) => void;
}

/** Called with the numbers of the processes before the command begins; what it throws ends the run. */
export type Confine = (processes: readonly number[]) => Promise<void>;

/** A user of the machine and its group. */
export interface Owner {
  readonly userId: number;
  readonly groupId: number;
}

/**
 * What a descriptor of the started program carries: `status` what it says of itself, `ready` a line from inside when
 * everything stands and one when the command begins, `gate` the line that lets it begin, `held` nothing, but it is open
 * for as long as the run may go on; or the opened descriptor of something that is read.
 */
export type Carried = "status" | "ready" | "gate" | "held" | { readonly opened: () => number };

/** What a run said by descriptors. */
export interface Said {
  readonly status: string;
  readonly ready: string;
}

/** The processes of a run as the machine numbers them. */
export interface RunProcesses {
  /** The started program. */
  readonly outerId: number;
  /** The first process of the run, once it is there. */
  readonly innerId: number | undefined;
}

/** How a run is started, and how its processes are reached. */
export interface Launch {
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** The started program's, where that is not the kernel's own. */
  readonly runAs: Owner | undefined;
  /** Whose output the pipes are, where that is not the kernel's own user. */
  readonly owner: Owner | undefined;
  /** The run is over once nobody inside has `ready` any more; else once the started program has ended. */
  readonly endsWithReady?: boolean;
  /** On the machine; the outermost when absent. */
  readonly workDir?: string;
  /** BLAKE3-256 of the filter of system calls, hexadecimal. */
  readonly seccomp: string | undefined;
  /** From descriptor 3 on. */
  readonly descriptors: readonly Carried[];
  /** The number of the run's first process, once it is said. */
  readonly firstProcess: (said: Said, outerId: number) => number | undefined;
  /** The command's exit code, once it is said. */
  readonly exitCode: (
    said: Said,
    ended: { readonly code: number | null; readonly signal: NodeJS.Signals | null },
  ) => number | undefined;
  /** What is wrong with what stands before the command begins. */
  readonly problem: (firstProcess: number) => string | undefined;
  /** All processes of a run that has no namespace of its own for them. */
  readonly processes?: (firstProcess: number) => readonly number[];
  /** Asks the command to end. */
  readonly terminate: (processes: RunProcesses) => void;
  /** Kills everything; closing what is `held` kills as well. */
  readonly kill: (processes: RunProcesses) => void;
  /** Ends what is left when the started program has ended; tells whether it could. */
  readonly ended?: (outerId: number) => Promise<boolean>;
  /** What to do when it cannot be started; to look at the doctor when absent. */
  readonly advice?: string;
  /** Removes what was made for the run, once it has ended. */
  readonly dispose?: () => void;
}
