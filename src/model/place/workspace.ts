/**
 * A workspace: the directories a session works in, and how the path an agent writes becomes a path inside them.
 *
 * Resolution is lexical and pure: it decides which root a path belongs to and refuses what leaves it. That the file
 * system agrees is the contained file access's business. A denial never says whether something exists outside.
 */

import { allow, deny, type Verdict } from "../outcome/decision.ts";
import type { WorkspacePath } from "./access.ts";
import type { ZoneMap } from "./zone.ts";

/** The name under which agents may address the workspace root by an absolute path. */
export const WORKSPACE_ALIAS = "/workspace";

/** The name under which agents address the scratch directory of their session, by an absolute path. */
export const SCRATCH_ALIAS = "/scratch";

/** What `path` is relative to the root where it is named by the alias, `.` for the root itself; else `undefined`. */
export function belowAlias(path: string): string | undefined {
  if (path === WORKSPACE_ALIAS) return ".";
  return path.startsWith(`${WORKSPACE_ALIAS}/`) ? path.slice(WORKSPACE_ALIAS.length + 1) : undefined;
}

/** Names that a path may have: what is judged for each of them is judged again below it. */
export const PATH_NAMES_MAX = 256;

/** Whether shared zones take part in searches without being named. */
export type IsolationLevel = "STRICT" | "SHARED";

/**
 * Directories and zones of a workspace. Both roots are absolute real paths; the service root lies in the project root.
 */
export interface Workspace {
  readonly serviceRoot: string;
  readonly projectRoot: string;
  /** Where whoever works on a copy of a workspace takes it to be; the service root itself when absent. */
  readonly knownRoot?: string;
  /** The main checkout of which the workspace is a worktree, as its `.git` says; no part of the workspace. */
  readonly mainCheckout?: string;
  /** Shared directories, relative to the project root. */
  readonly sharedPaths: readonly string[];
  readonly zones: ZoneMap;
}

/**
 * The place in `workspace` that `requested` names (CTR-0006: relative paths start at the service root).
 * Refuses `..` components (`workspace_path_traversal`), absolute paths outside and those with too many names
 * (`workspace_path_escape`).
 */
export function resolveWorkspacePath(workspace: Workspace, requested: string): Verdict<WorkspacePath> {
  if (isPlain(requested)) return allow({ root: "service", path: requested });
  const asked = () => canonicalPath(workspace, requested);
  if (requested.includes("\0")) return leaves("contains a null byte", asked());
  if (requested.split("/").length > PATH_NAMES_MAX) return leaves(`has more than ${PATH_NAMES_MAX} names`, asked());
  if (requested.split(/[/\\]/).includes("..")) return traversal(asked());
  if (!requested.startsWith("/")) return allow({ root: "service", path: normalise(requested) });
  const real = below(workspace.knownRoot ?? workspace.serviceRoot, requested);
  if (real !== undefined) return allow({ root: "service", path: real });
  const inProject = below(workspace.projectRoot, requested);
  if (
    inProject !== undefined &&
    workspace.sharedPaths.some((shared) => below(`/${shared}`, `/${inProject}`) !== undefined)
  ) {
    return allow({ root: "project", path: inProject });
  }
  // Last, so that a project that really lies at the alias keeps its own paths.
  const alias = below(WORKSPACE_ALIAS, requested);
  if (alias !== undefined) return allow({ root: "service", path: alias });
  const scratch = below(SCRATCH_ALIAS, requested);
  if (scratch !== undefined) return allow({ root: "scratch", path: scratch });
  const inMain = workspace.mainCheckout === undefined ? undefined : below(workspace.mainCheckout, requested);
  return inMain === undefined ? leaves("is outside the workspace", asked()) : outsideWorktree(inMain, asked());
}

/** What lies in the main checkout is read where the session's scope has it; here lies the worktree's own. */
function outsideWorktree(path: string, targetPath: string): Verdict<never> {
  const fix = `the same file of this worktree is \`${path}\``;
  return deny({
    layer: "workspace",
    reason: "workspace_path_escape",
    ruleId: "WORKSPACE:worktree",
    message: `the path is in the main checkout, and the workspace is a worktree of it; ${fix}`,
    fix,
    targetPath,
  });
}

/** The absolute path that `requested` names, without `.`, `..` and empty names; links are not followed. */
function canonicalPath({ knownRoot, serviceRoot }: Workspace, requested: string): string {
  const whole = requested.startsWith("/") ? requested : `${knownRoot ?? serviceRoot}/${requested}`;
  const names: string[] = [];
  for (const name of whole.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

const [NULL, DOT, SLASH, BACKSLASH] = [0x00, 0x2e, 0x2f, 0x5c];

/**
 * Whether `path` is relative and has nothing to be refused or left out: in one pass, for what nearly every call names.
 */
function isPlain(path: string): boolean {
  let begins = true;
  let names = 1;
  for (let i = 0; i < path.length; i += 1) {
    const unit = path.charCodeAt(i);
    if (unit === NULL || unit === BACKSLASH) return false;
    // `.`, `..`, the root or nothing; or merely a dot file
    if (begins && (unit === DOT || unit === SLASH)) return false;
    begins = unit === SLASH;
    if (begins) names += 1;
  }
  return !begins && names <= PATH_NAMES_MAX;
}

/** `path` without empty and `.` components; `.` when nothing is left. */
function normalise(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 ? "." : parts.join("/");
}

function below(base: string, absolute: string): string | undefined {
  const path = `/${normalise(absolute)}`.replace(/^\/\.$/, "/");
  const root = base === "/" ? "" : base.replace(/\/+$/, "");
  if (path === root || (root === "" && path === "/")) return ".";
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}

function traversal(targetPath: string): Verdict<never> {
  return deny({
    layer: "workspace",
    reason: "workspace_path_traversal",
    ruleId: "INV-0007",
    message: "the path has a `..` component; name the file from the workspace root",
    fix: "use a path relative to the workspace root without `..`",
    targetPath,
  });
}

function leaves(why: string, targetPath: string): Verdict<never> {
  return deny({
    layer: "workspace",
    reason: "workspace_path_escape",
    ruleId: "WORKSPACE:scope",
    message: `the path ${why}; only files of the workspace can be used, and \`${SCRATCH_ALIAS}\` for your own plans and temporary files`,
    fix: `use a path inside the workspace, or \`${SCRATCH_ALIAS}/NAME\``,
    targetPath,
  });
}
