/**
 * Running commands: what a tool asks for, and what came of it. A tool gets the handle from its context; where and how a
 * command runs is the sandbox's business.
 */

/** What to run: a program with its arguments, or a line for the shell. */
export type ExecCommand = { readonly argv: readonly [string, ...string[]] } | { readonly shell: string };

/** A command that a tool wants to run. */
export interface ExecRequest {
  readonly command: ExecCommand;
  /** Of the workspace; its root when absent. */
  readonly workDir?: string;
  /** Besides what every command gets; checked against the names that nobody may set. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds; 0 and absent mean the default. */
  readonly timeoutMs?: number;
  /** Hosts that were granted, as `host:port`; without any nothing is reachable. */
  readonly hosts?: readonly string[];
  /** Bytes that are kept of each end of each stream; what lies between is counted. */
  readonly keptBytesMax?: number;
  /** What it sees in place of the workspace; without it, the workspace by the scope of the call. */
  readonly selection?: ExecSelection;
}

/**
 * A workspace of the kernel's own making, for a program that obeys files which nobody has judged. Files of the
 * workspace that are not named do not exist for it, also when somebody makes them while it runs.
 */
export interface ExecSelection {
  /** What else of the workspace it sees: nothing, or everything that the call may read, without changing it. */
  readonly rest: "nothing" | "read_only";
  /** Read only; with `rest: "read_only"` they lie over files that are there. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Directories of the workspace that it fills. The kernel makes those that are missing. */
  readonly directories: readonly FilledDirectory[];
  /** Where it begins, absolute; the workspace's own place when absent. */
  readonly workDir?: string;
}

/** A directory that a command fills. */
export interface FilledDirectory {
  readonly path: string;
  /** Where it lies for the command, absolute; in the workspace's own place when absent. */
  readonly at?: string;
  /** Refused where it exists: what others wrote there would decide what runs. */
  readonly isNew?: boolean;
}

/** One stream of output, redacted. */
export interface ExecOutput {
  /** From the beginning on. */
  readonly head: string;
  /** Up to the end; empty when everything is in `head`. */
  readonly tail: string;
  /** Bytes between both that were not kept. */
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

/** What ended a command from outside: its time, its output, what all of it used of memory, or whoever waited for it. */
export const EXEC_ENDS = ["timeout", "output", "memory", "cancelled"] as const;
/** One of them. */
export type ExecEnd = (typeof EXEC_ENDS)[number];

/** Why a run was as safe as it was: part of its record. */
export type ExecEnforcement = {
  readonly backend: "bwrap" | "container" | "none";
  readonly namespaces: readonly string[];
  /** BLAKE3-256 of the system call filter. */
  readonly seccomp?: string;
  /** What bounds all processes together: a control group, or a kernel that looks at them ten times a second. */
  readonly memory: "cgroup" | "watch";
  /** What bounds their number: a control group, or the limit of the run's own user. */
  readonly processes: "cgroup" | "rlimit";
  readonly network: "none" | "proxy" | "host";
  /**
   * What the command wrote into: an overlay, or a copy, whose files shared their blocks with the workspace's or not;
   * absent where it was the workspace itself.
   */
  readonly view?: "overlay" | "reflink" | "copy";
  /** The user that the machine saw. */
  readonly userId: number;
};

/** What a command tried to reach. */
export interface ExecNetwork {
  readonly allowed: number;
  readonly refused: number;
  /** Allowed, and it did not come about. */
  readonly failed: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
  /** The first of those that were refused or failed; programs rarely show what the proxy answers. */
  readonly problems: readonly { readonly host: string; readonly port: number; readonly reason: string }[];
}

/** A host that a command tried to reach, all its attempts together. */
export interface ReachedHost {
  readonly host: string;
  readonly port: number;
  readonly allowed: number;
  readonly refused: number;
  /** Allowed, and it did not come about. */
  readonly failed: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
  /** Names of the operator's secrets that went with requests to it, sorted; absent where none did. */
  readonly secrets?: readonly string[];
}

/** How a program that was started ended, in the sandbox or outside of it. */
export interface ProgramOutcome {
  readonly exitCode?: number;
  /** The signal that ended it, as far as is known. */
  readonly signal?: string;
  readonly endedBy?: ExecEnd;
  readonly stdout: ExecOutput;
  readonly stderr: ExecOutput;
  readonly durationMs: number;
}

/** Why a change that a command made was not kept. */
export const NOT_KEPT_REASONS = [
  /** The path is not the call's to write: a protected, shared or hidden name, or outside of its lease. */
  "not_allowed",
  /** Somebody else changed, made or removed it while the command ran. */
  "changed_meanwhile",
  /** A person was asked about it and did not agree. */
  "not_approved",
  /** A FIFO, socket or device. */
  "not_a_file",
  /** Not UTF-8, or too long. */
  "unusable_name",
  /**
   * A removal, or what would overwrite a file: something else was not kept, and what would go may have been moved
   * there.
   */
  "held_back",
  /** It replaces another user's or group's file, or lies in a directory of such a group, and would be neither's. */
  "owner_not_kept",
  /** The machine refused it. */
  "failed",
] as const;
/** One of them. */
export type NotKeptReason = (typeof NOT_KEPT_REASONS)[number];

/** One change of the workspace that has landed; a renaming is one, with the name that was before. */
export interface LandedEffect {
  readonly path: string;
  readonly kind: "create" | "modify" | "delete" | "mode" | "rename";
  readonly from?: string;
  /** Of a file's bytes, hexadecimal; absent where there are too many, and of what is no file. */
  readonly digest?: string;
}

/** What became of the files that a command changed. */
export interface ExecLanded {
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
  /** In the order of paths. */
  readonly notKept: readonly { readonly path: string; readonly reason: NotKeptReason }[];
}

/** What came of a command that was started. */
export interface ExecOutcome extends ProgramOutcome {
  /** As far as the machine counts it for the run alone. */
  readonly usage?: { readonly processorMs: number; readonly memoryBytesMax: number };
  readonly enforced: ExecEnforcement;
  /** Where it had a way to the network. */
  readonly network?: ExecNetwork;
  /**
   * What became of what it changed in the workspace; absent where nothing of it was kept, or nothing contains commands.
   */
  readonly landed?: ExecLanded;
  /**
   * Directories whose repositories it did not see, because their histories hold files that commands must not read.
   * Absent when there are none.
   */
  readonly hiddenRepositories?: readonly string[];
}

/** Runs commands in the workspace of the call. */
export interface ExecAccess {
  /**
   * Runs a command; its output is reported as progress while it runs.
   * @throws ToolFailure SANDBOX_UNAVAILABLE when it cannot be contained, and so did not run; Refusal when it may not
   * run
   */
  readonly run: (request: ExecRequest) => Promise<ExecOutcome>;
}
