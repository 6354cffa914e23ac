/** Reads what references named before from their logs, as git writes them. */
import { MIB } from "../../base/bytes.ts";
import type { RepositoryFiles } from "./repository-files.ts";

/** Bytes of a log that is looked at. */
const GIT_LOG_BYTES_MAX = MIB;

const OBJECT = "([0-9a-f]{40}|[0-9a-f]{64})";
/** What was named before, what is named since, and why. */
const ENTRY = new RegExp(`^${OBJECT} ${OBJECT} [^\\n]*?(?:\\t(.*))?$`);
const MOVED = /^checkout: moving from (\S+) to \S+$/;

/** An entry of a log. */
export interface LogEntry {
  /** What was named since. */
  readonly object: string;
  readonly note?: string;
}

/** What the reference with the whole name `full` named `back` changes ago. */
export function entryOfLog(files: RepositoryFiles, full: string, back: number): LogEntry | undefined {
  const lines = linesOf(files, full);
  const line = lines?.at(-1 - back);
  if (line !== undefined) {
    const [, , object, note] = ENTRY.exec(line) ?? [];
    return object === undefined ? undefined : { object, ...(note !== undefined && { note }) };
  }
  // before the oldest entry
  const isOldest = lines !== undefined && lines.length > 0 && back === lines.length;
  const object = isOldest ? ENTRY.exec(lines[0] ?? "")?.[1] : undefined;
  return object === undefined || /^0+$/.test(object) ? undefined : { object };
}

/** What was checked out `back` changes of that ago: a branch, or a commit. */
export function branchBefore(files: RepositoryFiles, back: number): string | undefined {
  const moves = (linesOf(files, "HEAD") ?? []).flatMap((line) => MOVED.exec(ENTRY.exec(line)?.[3] ?? "")?.[1] ?? []);
  return back === 0 ? undefined : moves.at(-back);
}

/** `undefined` where there is no log, or too long a one. */
function linesOf(files: RepositoryFiles, full: string): readonly string[] | undefined {
  const text = files.read(`.git/logs/${full}`, GIT_LOG_BYTES_MAX);
  return text?.split("\n").filter((line) => line !== "");
}
