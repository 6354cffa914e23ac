/**
 * A branch: a copy of a workspace that stays, on which sessions work until it is merged or dropped.
 *
 * It has a place of its own on the machine. What it was copied from, the workspace or another branch, is its parent.
 */

/** How a branch stands: it is being copied, can be worked on, or is being merged. */
export type BranchState = "making" | "ready" | "merging";

/** A branch as stored. Times are milliseconds since the Unix epoch. */
export interface Branch {
  readonly id: string;
  /** Unique in the workspace. */
  readonly name: string;
  /** The workspace, as sessions name it. */
  readonly serviceRoot: string;
  /** The branch that it was copied from; the workspace itself when absent. */
  readonly parentId?: string;
  readonly state: BranchState;
  /** The kernel that makes or merges it. */
  readonly instanceId: string;
  readonly userId: string;
  readonly agentId: string;
  /** Whether files were cloned by the file system, or their bytes copied; empty while it is being made. */
  readonly way: "" | "clone" | "copy";
  /** Files, directories and links that it was made of. */
  readonly entries: number;
  readonly createdAtMs: number;
}

/** Characters of a name. */
export const BRANCH_NAME_MAX = 100;

const PART = /^[\p{L}\p{N}_][\p{L}\p{N}_.+-]*$/u;
/** Letters that nobody sees. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;

/** Why `name` is not the name of a branch; `undefined` when it is one. */
export function branchNameProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if ([...name].length > BRANCH_NAME_MAX) return `is longer than ${BRANCH_NAME_MAX} characters`;
  if (name.normalize("NFC") !== name) return "is not in Unicode's normal form C";
  if (UNSEEN.test(name)) return "has characters that cannot be seen";
  const isPlain = name.split("/").every((part) => PART.test(part) && !part.endsWith("."));
  if (isPlain) return undefined;
  return "has other parts than letters, digits, `_`, `-`, `+` and `.`, each beginning with a letter, a digit or `_`";
}

/** How the name of a branch begins that `handrail run` makes for one command. */
export const RUN_BRANCH = "run/";
