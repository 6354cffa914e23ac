/**
 * What a call will touch, as data. A tool's `analyse` names every access; scope, policy, prompts and evidence see only
 * that list.
 */
import type { CommandResource } from "./command.ts";
import type { EffectClass } from "./effect.ts";

/** A thing that a call touches. File paths stand as the agent wrote them; the kernel resolves them. */
export type Resource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "tool"; readonly name: string }
  | { readonly kind: "host"; readonly host: string; readonly port: number }
  | CommandResource
  /** `operation`, such as `push`, is what a lease's `gitOperations` name. */
  | { readonly kind: "git_ref"; readonly remote?: string; readonly ref: string; readonly operation?: string }
  | { readonly kind: "model"; readonly provider: string; readonly model: string }
  /** What a package manager of the machine installs; `version` is exact. */
  | { readonly kind: "package"; readonly manager: string; readonly name: string; readonly version: string }
  | { readonly kind: "artifact"; readonly id: string };

/** One resource and what happens to it. */
export interface Access {
  readonly resource: Resource;
  readonly effect: EffectClass;
}

/** Which directory a workspace path is relative to. */
export type WorkspaceRoot = "service" | "project";

/**
 * A file inside the workspace: `path` is relative to `root`, normalised, with `/`, without `.` or `..`; the root itself
 * is `.`.
 */
export interface WorkspacePath {
  readonly root: WorkspaceRoot;
  readonly path: string;
}
