/** Says what it means for a call that the machine refused something while a command's changes were to land. */
import { statfsSync } from "node:fs";
import { FailureWithoutEffect, Refusal, ToolFailure, type ToolFailureCode } from "../../../model/outcome/failure.ts";
import { missingReserve, type Taken } from "../../files/places/disk-reserve.ts";
import { errno, errorName } from "../../native/syscalls.ts";

/** What a system call answered, where that ends the whole landing. */
export class MachineRefusal extends Error {
  readonly code: string;

  /** @param negative the error number */
  constructor(what: string, negative: number) {
    super(`${what}: ${errorName(negative)}`);
    this.name = "MachineRefusal";
    this.code = errorName(negative);
  }
}

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** Whether the machine had no room: then nothing that comes later has any, either. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error) ?? "");
}

/** Whether the machine said that its user may not do it. */
export function isDenied(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(codeOf(error) ?? "");
}

/** Whether a negative error number says that the machine had no room. */
export function saysFull(negative: number): boolean {
  return negative === -errno.ENOSPC || negative === -errno.EDQUOT;
}

/** @throws MachineRefusal where the disk on which `directory` lies has no block, or no name, left */
export function requireRoom(directory: string): void {
  const { bavail, files, ffree } = statfsSync(directory);
  if (bavail > 0 && (files === 0 || ffree > 0)) return;
  throw new MachineRefusal("the disk of views is full", -errno.ENOSPC);
}

/**
 * Keeps a landing from taking what others need to go on. To be asked about one that makes or enlarges something.
 * @param directory on the file system on which it lands
 * @param taken what it takes there
 * @throws FailureWithoutEffect DISK_FULL where less than the reserve would be free
 */
export function requireReserve(directory: string, taken: Taken): void {
  const missing = missingReserve(directory, taken);
  if (missing === undefined) return;
  throw new FailureWithoutEffect(
    "DISK_FULL",
    `less than ${missing.size} would be free on the disk, which others need, so nothing of what the command changed was kept`,
    "let it write less, or below /tmp, which is the command's own, or free some space or ask a person to; then run it again",
  );
}

/** The machine's name of an error that it raised itself. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof ToolFailure || error instanceof Refusal) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

interface Meaning {
  readonly code: ToolFailureCode;
  readonly why: string;
  readonly next: string;
}

const ROOM = "free some space, or ask a person to, then run it again";
const RIGHTS = "ask a person to look at the permissions of the workspace";

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOSPC: { code: "DISK_FULL", why: "the disk is full", next: ROOM },
  EDQUOT: { code: "DISK_FULL", why: "the disk quota is used up", next: ROOM },
  EROFS: {
    code: "READ_ONLY_FILE_SYSTEM",
    why: "the workspace is on a read-only file system",
    next: "ask a person to make the workspace writable",
  },
  EACCES: { code: "PERMISSION_DENIED", why: "the kernel's user may not write there", next: RIGHTS },
  EPERM: { code: "PERMISSION_DENIED", why: "the kernel's user may not write there", next: RIGHTS },
};

/** `error` as a failure that left nothing, where the machine raised it and nothing has landed; else unchanged. */
export function nothingLanded(error: unknown): unknown {
  return failureOf(error, (why) => `${why}, so nothing of what the command changed was kept`);
}

/** The same for one that came before the command began. */
export function neverBegan(error: unknown): unknown {
  return failureOf(error, (why) => `${why}, so the command did not run`);
}

/** The same for one that came while a merge was put together. */
export function neverMerged(error: unknown): unknown {
  return failureOf(error, (why) => `${why}, so nothing was merged`);
}

/** The same for one that came while a branch was made. */
export function neverMade(error: unknown): unknown {
  return failureOf(error, (why) => `${why}, so no branch was made`);
}

function failureOf(error: unknown, says: (why: string) => string): unknown {
  const name = codeOf(error);
  if (name === undefined) return error;
  const meaning = MEANINGS[name];
  if (meaning !== undefined) return new FailureWithoutEffect(meaning.code, says(meaning.why), meaning.next);
  const why = `the machine could not do it (${name})`;
  return new FailureWithoutEffect("IO_ERROR", says(why), {
    suggestion: "check the disk, then run it again",
    cause: error,
  });
}
