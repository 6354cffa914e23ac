/**
 * Describes as data each access that a call will make.
 *
 * A tool's `analyse` names every access. Scope, policy, prompts and evidence see only that list.
 */

import type { EffectClass } from "../outcome/effect.ts";
import type { CommandResource } from "./command.ts";

/** A thing that a call touches. File paths stand as the agent wrote them; the kernel resolves them. */
export type Resource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "host"; readonly host: string; readonly port: number }
  | CommandResource
  | GitRefResource
  | { readonly kind: "model"; readonly provider: string; readonly model: string }
  /** What a package manager of the machine installs; `version` is exact. */
  | { readonly kind: "package"; readonly manager: string; readonly name: string; readonly version: string }
  | { readonly kind: "artifact"; readonly id: string };

/** A branch, a tag, a commit, or `HEAD`, `index` and their like; what is not said of it is not so. */
export interface GitRefResource {
  readonly kind: "git_ref";
  /** The remote on whose side it lies. */
  readonly remote?: string;
  readonly ref: string;
  /** Such as `push`: what a lease's `gitOperations` name. */
  readonly operation?: string;
  /** What it named before may be lost: a forced push, a reset, a deleted branch. */
  readonly force?: true;
  /** It is one of the branches that the operator protects. */
  readonly protected?: true;
  /** Nothing is changed: it is only tried. */
  readonly dryRun?: true;
  /** The commit or annotated tag that it names now, with the steps from there if it names any (`8c1f…~2`). */
  readonly commit?: string;
  /** What whoever put changes aside said of them. */
  readonly message?: string;
}

/** One resource and what happens to it. */
export interface Access {
  readonly resource: Resource;
  readonly effect: EffectClass;
  /**
   * The action that policy is asked about, where the tool has several, such as `git:push`; the tool's name when absent.
   */
  readonly action?: string;
  /** Of what lies elsewhere: it is only asked what it has, and gets nothing of the workspace. */
  readonly sendsNothing?: true;
  /** The whole text for the shell that a command is part of: only this very text may be given to one. */
  readonly shellText?: string;
}

/**
 * Which directory a workspace path is relative to: the workspace's own, the project's that holds it, or the session's
 * scratch directory, which is no part of either.
 */
export type WorkspaceRoot = "service" | "project" | "scratch";

/**
 * A file inside the workspace: `path` is relative to `root`, normalised, with `/`, without `.` or `..`; the root itself
 * is `.`.
 */
export interface WorkspacePath {
  readonly root: WorkspaceRoot;
  readonly path: string;
}
