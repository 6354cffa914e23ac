/**
 * Translates the machine's errors into tool failures for an agent.
 *
 * One table leads from error names to tool failures, each with what to do next. Messages quote the path as the agent
 * wrote it and nothing else of the machine.
 */
import type { Denial } from "../../../model/outcome/decision.ts";
import { FailureWithoutEffect, Refusal, ToolFailure, type ToolFailureCode } from "../../../model/outcome/failure.ts";
import { errno, errorName } from "../../native/syscalls.ts";

interface Meaning {
  readonly code: ToolFailureCode;
  readonly what: string;
  readonly next: string;
  readonly retryAfterMs?: number;
}

const BUSY_RETRY_MS = 100;
/** Whoever holds a lease is told that somebody wants the file, and should let go at once. */
const LEASE_RETRY_MS = 1000;
/** Named apart: `EAGAIN` is what renames on the way to a file are answered with. */
const LEASED = "EWOULDBLOCK";

const DENIED: Meaning = {
  code: "PERMISSION_DENIED",
  what: "may not be used by the kernel's user",
  next: "ask a person to change the permissions of the file or its directory",
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOENT: {
    code: "FILE_NOT_FOUND",
    what: "does not exist",
    next: "check the path, or use list_files to see which files there are",
  },
  ENOTDIR: {
    code: "NOT_A_DIRECTORY",
    what: "runs through a file as if it were a directory",
    next: "use list_files to see which directories there are",
  },
  EISDIR: {
    code: "NOT_A_FILE",
    what: "is a directory",
    next: "name a file, or use list_files to see what is in the directory",
  },
  EEXIST: {
    code: "FILE_EXISTS",
    what: "exists already",
    next: "choose another name, or leave `create_only` out to replace the file",
  },
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: {
    code: "READ_ONLY_FILE_SYSTEM",
    what: "is on a read-only file system",
    next: "ask a person to make the workspace writable",
  },
  ENOSPC: diskFull("the disk is full"),
  EDQUOT: diskFull("the disk quota is used up"),
  EFBIG: {
    code: "FILE_TOO_LARGE",
    what: "would be larger than the system allows",
    next: "split the content into several files",
  },
  ENAMETOOLONG: { code: "IO_ERROR", what: "is longer or deeper than a workspace takes", next: "use a shorter path" },
  EMFILE: busy("could not be opened, because too many files are open"),
  ENFILE: busy("could not be opened, because too many files are open"),
  ENOMEM: busy("could not be used, because the machine has too little memory"),
  [LEASED]: {
    code: "RESOURCE_BUSY",
    what: "is held by another program, which has a lease on it",
    next: "try again in a moment; a lease ends after 45 s at the latest, unless the machine's administrator chose another time",
    retryAfterMs: LEASE_RETRY_MS,
  },
  EAGAIN: busy("is being moved about by somebody else"),
};

function diskFull(why: string): Meaning {
  const next = "free some space and try again; the file is unchanged";
  return { code: "DISK_FULL", what: `could not be written, because ${why}`, next };
}

function busy(what: string): Meaning {
  return { code: "RESOURCE_BUSY", what, next: "try again in a moment", retryAfterMs: BUSY_RETRY_MS };
}

/** The failure that the machine's error `name` (such as `ENOENT`) is for the file `path`. */
export function failureOf(name: string, path: string): ToolFailure {
  const meaning = MEANINGS[name];
  if (meaning === undefined) {
    return new ToolFailure(
      "IO_ERROR",
      `${quoted(path)} could not be used: the system answered ${name}`,
      "check the disk, then try again",
    );
  }
  const { code, what, next, retryAfterMs } = meaning;
  return new ToolFailure(code, `${quoted(path)} ${what}`, { suggestion: next, retryAfterMs });
}

/**
 * The failure of opening `path` itself, by a negative error number: there `EAGAIN` says that somebody holds a lease on
 * it.
 */
export function openingFailure(negative: number, path: string): ToolFailure {
  return failureOf(isLeased(negative) ? LEASED : errorName(negative), path);
}

/** Whether an opening was refused because somebody holds a lease on the file. */
export function isLeased(negative: number): boolean {
  return negative === -errno.EAGAIN;
}

/** `error` as a tool failure when the machine raised it, otherwise unchanged: a refusal or a bug stays what it is. */
export function translated(error: unknown, path: string): unknown {
  if (error instanceof ToolFailure || error instanceof Refusal || !(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === "string" && typeof syscall === "string" ? failureOf(code, path) : error;
}

/** The failure of a path that names something other than a regular file. */
export function notAFile(path: string, kind: string): ToolFailure {
  return new ToolFailure(
    "NOT_A_FILE",
    `${quoted(path)} is a ${kind}, not a regular file`,
    kind === "directory"
      ? "name a file, or use list_files to see what is in the directory"
      : "only regular files can be read and written",
  );
}

/** The failure of a file that changed while the call worked on it. */
export function changed(path: string): ToolFailure {
  return new ToolFailure(
    "FILE_CHANGED",
    `${quoted(path)} was changed by somebody else meanwhile; nothing was written`,
    { suggestion: "read the file again, then repeat the change", retryAfterMs: 0 },
  );
}

/** The failure of a call that was cancelled. */
export function cancelled(): ToolFailure {
  const message = "the call was cancelled; nothing was written";
  return new FailureWithoutEffect("CANCELLED", message, "make the call again if it is still wanted");
}

/** Throws when `signal` says that nobody waits any more. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

/** A path of the agent inside a message. */
export function quoted(path: string): string {
  return `\`${path.length > 300 ? `${path.slice(0, 300).toWellFormed()}…` : path}\``;
}

interface FileDenial extends Pick<Required<Denial>, "ruleId" | "message" | "fix">, Pick<Denial, "targetPath"> {
  readonly reason:
    | "workspace_symlink_escape"
    | "workspace_device_boundary"
    | "workspace_hard_link"
    | "workspace_path_escape"
    | "workspace_blocked_zone";
}

/** A refusal of the workspace guard. */
export function refusal(denial: FileDenial): Refusal {
  return new Refusal({ layer: "workspace", ...denial });
}
