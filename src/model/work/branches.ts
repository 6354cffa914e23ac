/**
 * Branches, as a tool uses them.
 *
 * It makes, lists, compares, merges and drops those of the call's user in the call's workspace.
 */
import type { NotKeptReason } from "./exec.ts";

/** A branch as an agent is told of it. */
export interface BranchFacts {
  readonly name: string;
  /** The branch that it was made from; the workspace itself when absent. */
  readonly parent?: string;
  /** Whether the session works on it. */
  readonly isCurrent: boolean;
  readonly state: "making" | "ready" | "merging";
  /** Files, directories and links that it was made of. */
  readonly entries: number;
  readonly way: "" | "clone" | "copy";
  readonly createdAtMs: number;
  readonly agentId: string;
}

/** One path that differs from what it was when the branch was made. */
export interface BranchFile {
  readonly path: string;
  readonly change: "create" | "modify" | "delete" | "mode" | "rename";
  readonly kind: "file" | "link" | "directory";
  /** Of a renaming. */
  readonly from?: string;
  /** Rights of a file or directory, octal. */
  readonly mode?: string;
  /** Those where it was made from, where they are others. */
  readonly modeBefore?: string;
  readonly bytes?: number;
  /** Bytes that are no text: there is no diff. */
  readonly isBinary?: boolean;
  /** Unified diff, where there is text on both sides that is not too long. */
  readonly diff?: string;
  readonly linesOmitted?: number;
  /**
   * Why no merge takes it, so that nothing of the branch is merged: something stands there that the branch does not
   * hold, or it would belong to another user or group.
   */
  readonly notMerged?: "hidden_from_branch" | "owner_not_kept";
  /** For people: what a person should know of it before anything else. */
  readonly notice?: string;
  /** For people: what comes with it was not shown in full. */
  readonly isNamedOnly?: boolean;
}

/** What a branch changed. */
export interface BranchDiff {
  readonly branch: BranchFacts;
  readonly files: readonly BranchFile[];
  /** Paths beyond those that are named. */
  readonly filesOmitted: number;
  /** Paths that the call may not read. */
  readonly filesHidden: number;
  /** Directories with repositories of their own, whose commits a merge does not bring back. */
  readonly nested: readonly string[];
}

/** What came of a merge. */
export interface BranchMerged {
  readonly branch: string;
  readonly into: string;
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
  /** What keeps it from being merged; nothing was. */
  readonly conflicts: readonly { readonly path: string; readonly why: string }[];
  readonly notKept: readonly { readonly path: string; readonly reason: NotKeptReason }[];
  /** It was written to meanwhile, or holds what is in `nested`, and stays. */
  readonly isLeft: boolean;
  /** Directories with repositories of their own, whose commits were not brought back. */
  readonly nested: readonly string[];
}

/** What a tool does with branches. Failures are `ToolFailure`s and `Refusal`s. */
export interface BranchAccess {
  /** Makes one of what the session works on, and lets the session work on it from its next call on. */
  readonly create: (name: string) => Promise<BranchFacts>;
  readonly list: () => Promise<readonly BranchFacts[]>;
  readonly diff: (name: string) => Promise<BranchDiff>;
  /** Merges it into what it was made from. Sessions on it work there from their next call on. */
  readonly merge: (name: string) => Promise<BranchMerged>;
  readonly drop: (name: string) => Promise<BranchFacts>;
}
