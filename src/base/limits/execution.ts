/** Limits of commands that run in a sandbox. */
import { GIB, KIB } from "./units.ts";

/** Milliseconds that the kernel's thread may stand while calls are under way before that is said: deadlines are missed by as much. */
export const STALL_MIN_MS = 1000;
/** Milliseconds between two looks at whether it stood. */
export const WATCHDOG_LOOK_MS = 250;
/** Milliseconds of work without a pause that is remembered, in case the thread stood for it. */
export const LONG_STEP_MS = 100;
/** Milliseconds between asking the processes of a sandbox to end and killing them. */
export const KILL_GRACE_MS = 500;
/** Milliseconds that a view of a workspace may take to be made: a start of Node and a handful of mounts. */
export const SANDBOX_VIEW_MS = 10_000;
/** Bytes of what the sandbox program says when it fails. */
export const SANDBOX_MESSAGE_BYTES_MAX = 2 * KIB;
/** Characters of what it says of its state: two records. */
export const SANDBOX_STATUS_CHARACTERS_MAX = 4 * KIB;
/** Mounts that the scope of one command may need: each costs a system call and memory of the machine's kernel. */
export const SANDBOX_MOUNTS_MAX = 4096;
/** Files and directories that are looked at before and after a command. */
export const SANDBOX_ENTRIES_MAX = 1_000_000;
/** Milliseconds that looking at a workspace takes of the kernel's one thread before others have their turn. */
export const SLICE_MS = 5;
/** Times that a workspace is looked at in a row because its repositories have changed meanwhile. */
export const SANDBOX_LOOKS_MAX = 4;
/** Entries of a directory that are looked at between two looks at the clock. */
export const SANDBOX_ENTRIES_PER_STEP = 200;
/** Views of workspaces that one kernel holds at once; each is a waiting process. */
export const SANDBOX_VIEWS_MAX = 16;
/**
 * Bytes that a process of a sandbox may ask for beyond its bound of memory, where no control group counts what is used: a runtime with a compiler
 * of its own asks for half a gibibyte for each thread before it uses any.
 */
export const SANDBOX_RESERVED_BYTES = 4 * GIB;
/** Bytes that it may ask for where a control group bounds what is used: enough for the threads of a large test run. */
export const SANDBOX_ASKED_BYTES_MAX = 64 * GIB;
/** Milliseconds between two looks at what a command uses of memory, where no control group counts it. */
export const MEMORY_LOOK_MS = 100;
/** How much longer than a look the time to the next one is at least. */
export const MEMORY_LOOK_SHARE = 8;
/** Commands that one kernel runs at once. */
export const SANDBOX_RUNS_MAX = 64;
/** Milliseconds that a command may run when the call does not say. */
export const EXEC_TIMEOUT_MS = 120_000;
/** Bytes of each end of each stream of a command's output that are shown: both streams fit what a model is shown of a result. */
export const EXEC_KEPT_BYTES = 24_000;
/** Commands of one call that its outcome records. */
export const COMMANDS_RECORDED_MAX = 16;
/** Files, directories and links that one command may change: more could not be looked at before the next one. */
export const SANDBOX_CHANGES_MAX = 500_000;
/** Times that a stamp is written until the clock of its file system has gone on: some microseconds each, a tick of 10 ms at most. */
export const VIEW_TICK_LOOKS_MAX = 10_000;
/** Changes of a command that were not kept and that its answer names; all of them are counted. */
export const NOT_KEPT_SHOWN_MAX = 100;
/** Such changes that its record names. */
export const NOT_KEPT_RECORDED_MAX = 8;
/** Characters (UTF-16 code units) of each such path. */
export const NOT_KEPT_CHARACTERS_MAX = 256;
/** Directories with programs that the operator may show to commands. */
export const SANDBOX_TOOLCHAINS_MAX = 64;
/** Milliseconds that the command of `handrail doctor` may run. */
export const DOCTOR_RUN_MS = 10_000;
/** Milliseconds within which the last process of a sandbox is gone after its command has ended: what does not react any more waits for a disk. */
export const SANDBOX_END_MS = 5_000;
/** Milliseconds between two looks at output whose command has ended. */
export const SANDBOX_OUTPUT_LOOK_MS = 50;
/** Looks after which output that somebody else still holds open is over: what waits in a pipe is read between two of them. */
export const SANDBOX_OUTPUT_LOOKS = 20;
