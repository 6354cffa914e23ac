/** Paths of a call: as scope judges them, and as git finds them again. */
import { belowAlias } from "../../../model/place/workspace.ts";
import { shownName } from "./names.ts";

/** Where a call is at. */
export interface Place {
  /** Directory of the workspace, as the call names it. */
  readonly cwd: string;
  /** Directory of the workspace that holds the repository. */
  readonly root: string;
}

/** Why `path` is no path that is taken here. Paths are names: nothing in them is a pattern. */
export function pathProblem(path: string): string | undefined {
  if (path === "") return "a path is empty";
  if (/[\p{Cc}]/u.test(path)) return "a path holds control characters, such as a line break; rename the file first";
  if (path.split("/").includes("..")) return `\`${shownName(path)}\` leads upwards; name the path from \`cwd\``;
  if (path.startsWith(":")) return `\`${shownName(path)}\` is a pattern of git's; name files and directories`;
  return undefined;
}

/** `path` of a call from the workspace's root, `.` for the root itself. */
export function workspacePath(cwd: string, path: string): string {
  const absolute = belowAlias(path);
  // Another absolute path is judged as it is.
  if (absolute === undefined && path.startsWith("/")) return path;
  const parts = absolute === undefined ? `${belowAlias(cwd) ?? cwd}/${path}` : absolute;
  return normal(parts);
}

/** A path of the workspace from the repository's root; `undefined` when it lies beside it. */
export function fromRoot(root: string, path: string): string | undefined {
  if (root === ".") return path;
  if (path === root) return ".";
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}

/** A path of the repository from the workspace's root. */
export function toWorkspace(root: string, path: string): string {
  return root === "." ? path : `${root}/${path}`;
}

function normal(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 ? "." : parts.join("/");
}

/** A path of the repository as the one thing that it names. */
export function literal(path: string): string {
  return path === "." ? ":(top)" : `:(top,literal)${path}`;
}

/** The same, left out. */
export function without(path: string): string {
  return `:(top,literal,exclude)${path}`;
}
