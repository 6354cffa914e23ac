/**
 * A repository as the kernel sees it without running git, and the handle by which tools run git.
 *
 * Nothing that a repository says of itself is trusted: its settings are kept only as far as they are on a closed list.
 */

import type { WholePattern } from "../../names/whole-pattern.ts";
import type { Denial } from "../outcome/decision.ts";
import type { ExecEnd, ExecLanded } from "./exec.ts";
import type { GitRemoteReach } from "./git-remote.ts";

/** What the operator asks of branches and messages. */
export interface GitRules {
  /** Globs of branches that are changed only when a person agrees, and never by force on a remote. */
  readonly protectedBranches: readonly string[];
  /** What names of new branches match, whole. */
  readonly branchPattern?: WholePattern;
  /** What the first line of a message matches, whole. */
  readonly messagePattern?: WholePattern;
}

/** What holds where the operator says nothing. */
export const DEFAULT_GIT_RULES: GitRules = { protectedBranches: ["main", "master", "release/*"] };

/** A remote as the repository names it; addresses without what they say of a user. */
export interface GitRemote {
  readonly url?: string;
  readonly pushUrl?: string;
}

/** Where a repository stands between two steps of something. */
export interface RepositoryState {
  readonly inProgress?: "merge" | "rebase" | "cherry-pick" | "revert" | "bisect" | "am";
  /** Of a rebase: the step that it is at, of how many. */
  readonly step?: number;
  readonly steps?: number;
  /** Of a rebase: the branch that it is about. */
  readonly rebasing?: string;
  /** The rest of a rebase names commands to run. */
  readonly runsCommands: boolean;
  /** Only the newest commits are there. */
  readonly shallow: boolean;
  /** Other working trees share it. */
  readonly worktrees: boolean;
  /** Another git is at work, or was killed. */
  readonly locked: boolean;
  readonly submodules: readonly string[];
  /** Some files are only pointers to what another server keeps. */
  readonly lfs: boolean;
}

/** A repository that git can be run in. */
export interface FoundRepository {
  readonly kind: "found";
  /** The directory of the workspace in which it lies; `.` for the workspace itself. */
  readonly root: string;
  /** What `.git/HEAD` says, without the end of its line; absent where there is none yet. */
  readonly head?: string;
  /** The current branch; absent when a commit is checked out by itself. */
  readonly branch?: string;
  /** The current commit; absent before the first. */
  readonly commit?: string;
  /**
   * The object that a branch, tag, remote branch, `HEAD`, an entry of a log (`stash@{1}`) or the beginning of an
   * object's name stands for, as far as that is plain to see. Of a look that a call was judged by the same each time,
   * and the call changes nothing once it is another.
   */
  readonly resolve: (name: string) => string | undefined;
  /** What the log says of an entry of it: of `stash@{1}` the message. */
  readonly noteOf: (name: string) => string | undefined;
  /**
   * The branch that is really changed when one of that name is: a name can stand for another (a symbolic reference).
   */
  readonly branchOf: (name: string) => string;
  /** A mark of what is staged: another one when anything was staged or unstaged since. It binds as `resolve` does. */
  readonly staged: () => string;
  /** The same of a merge, rebase or the like that is under way. */
  readonly progress: () => string;
  readonly remotes: Readonly<Record<string, GitRemote>>;
  /** By branch: the remote and the branch there that it follows. */
  readonly upstreams: Readonly<Record<string, { readonly remote?: string; readonly branch?: string }>>;
  readonly state: RepositoryState;
  /** The settings that git gets to see, as a file. */
  readonly settings: string;
  /** Names of settings that have no effect here. */
  readonly ignoredSettings: readonly string[];
  /** Whether the settings say who commits. */
  readonly hasIdentity: boolean;
  readonly rules: GitRules;
}

/** The repository of a directory, or why there is none that can be used. */
export type GitRepository =
  | FoundRepository
  | { readonly kind: "none" }
  | { readonly kind: "unusable"; readonly why: string; readonly suggestion: string };

/** Looks at the repository in which a directory of the workspace lies. */
export type RepositoryView = (directory: string) => GitRepository;

/** There is no repository. */
export const NO_REPOSITORY: GitRepository = { kind: "none" };

/**
 * What a run of git may change: nothing; what lies in `.git`; files of the workspace as well; the repository's own
 * settings as well; or it makes a new repository.
 */
export type GitReach = "nothing" | "repository" | "files" | "settings" | "new";

/** One run of git. */
export interface GitRequest {
  /** The subcommand and its arguments. */
  readonly args: readonly [string, ...string[]];
  readonly reach: GitReach;
  /** The repository; of a new one the directory that it will lie in. */
  readonly root: string;
  /** The remote that it speaks to, whose host analysis named. */
  readonly remote?: GitRemoteReach;
  readonly timeoutMs?: number;
}

/**
 * Whether git changes things in a view, from which all lands or nothing. What comes from a remote goes into the
 * repository itself, and so do its settings.
 */
export function changesView({ reach, remote }: Pick<GitRequest, "reach" | "remote">): boolean {
  return reach === "files" || reach === "new" || (reach === "repository" && remote === undefined);
}

/** A bound of the operator's, by its name under `git.limits`, that a run went beyond. */
export interface GitExceeded {
  readonly setting: "received_mb" | "written_mb";
  readonly bytesMax: number;
}

/** What came of a run of git: the output as it is, which only a result that is redacted may carry on. */
export interface GitOutcome {
  readonly exitCode?: number;
  readonly endedBy?: ExecEnd;
  /** Why it was ended, or got no more. */
  readonly exceeded?: GitExceeded;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  /**
   * Of a run that was to change files: what of them may not be changed, by paths of the workspace. Where there is any,
   * nothing was changed. Absent where nothing was to land.
   */
  readonly notKept?: ExecLanded["notKept"];
  /** Directories of the workspace that are repositories of their own: nothing in them was looked at. */
  readonly nested: readonly string[];
  /** What was tried to reach and did not come about. */
  readonly refusedHosts: readonly { readonly host: string; readonly port: number; readonly reason: string }[];
}

/** Runs git for one call. */
export interface GitAccess {
  /** @throws ToolFailure SANDBOX_UNAVAILABLE when it cannot be contained; Refusal when it may not run */
  readonly run: (request: GitRequest) => Promise<GitOutcome>;
  /**
   * Why this call may not read a file of the workspace, write it, or make it a link; whatever asks may not be written.
   */
  readonly judge: (path: string, effect: "read" | "write" | "link") => Denial | undefined;
}
