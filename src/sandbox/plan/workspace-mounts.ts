/**
 * The scope of a call as mounts: the same judgement that file tools ask is asked about everything that stands in the workspace, and becomes
 * what a command may see and change. Pure but for the listing that is handed in.
 *
 * INVARIANTS: what may not be read is not seen, what may not be written is read only, links included, because they lead nowhere else; a directory can be
 * written only where anything new in it could be. What a command makes anew under a name that is not its to make cannot be stopped by
 * mounts: `unexpected` finds it afterwards.
 */
import { SANDBOX_ENTRIES_MAX, SANDBOX_MOUNTS_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/failure.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "./plan.ts";

/** What a command may do with one file or directory. */
export type Reach = "hidden" | "read" | "write";

/** The scope of a call. Paths are relative to the workspace root, which is `.`. */
export interface ScopeJudge {
  /** Of something that is there. */
  readonly entry: (path: string, isDirectory: boolean) => Reach;
  /** Of anything new below a directory. */
  readonly below: (directory: string) => "read" | "write";
  /** Directories that are one thing: what they hold is not looked at. */
  readonly isWhole: (directory: string) => boolean;
}

/** An entry of a directory, as far as mounts look at it. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

/** Lists a directory of the workspace, in any order. */
export type ListDirectory = (path: string) => readonly TreeEntry[];

/** Where the workspace and its parts are taken from. */
export interface WorkspaceSource {
  /** Where mounts find the workspace, absolute. */
  readonly source: string;
  readonly list: ListDirectory;
}

/** Names under which something may not be made, and that were there before. */
export type Standing = ReadonlySet<string>;

/** The mounts of one run. */
export interface WorkspaceMounts {
  readonly mounts: readonly SandboxMount[];
  readonly standing: Standing;
}

/**
 * The mounts that `judge` comes to.
 * @throws ToolFailure SANDBOX_UNAVAILABLE when they are too many, or the tree is too large to look at
 */
export function workspaceMounts({ source, list }: WorkspaceSource, judge: ScopeJudge): WorkspaceMounts {
  const mounts: SandboxMount[] = [];
  const standing = new Set<string>();
  const add = (mount: SandboxMount): void => {
    if (mounts.length >= SANDBOX_MOUNTS_MAX) throw tooMuch("the scope needs more mounts than a command can be given");
    mounts.push(mount);
  };
  const show = (path: string, reach: "read" | "write"): void =>
    add({ kind: reach === "write" ? "writable" : "read_only", source: at(source, path), target: at(INSIDE_WORKSPACE, path) });
  const entries = counter();
  const visit = (directory: string, inherited: "read" | "write" | undefined): void => {
    const below = judge.isWhole(directory) ? readOrWrite(judge.entry(directory, true)) : judge.below(directory);
    if (below !== inherited) show(directory, below);
    if (judge.isWhole(directory)) return;
    for (const { name, kind } of list(directory)) {
      entries();
      const path = directory === "." ? name : `${directory}/${name}`;
      if (kind === "link") continue;
      const reach = kind === "other" ? "hidden" : judge.entry(path, kind === "directory");
      if (reach !== "write") standing.add(path);
      if (reach === "hidden") add({ kind: kind === "directory" ? "hide_directory" : "hide_file", target: at(INSIDE_WORKSPACE, path) });
      else if (kind === "directory") visit(path, below);
      else if (reach !== below) show(path, reach);
    }
  };
  visit(".", undefined);
  return { mounts, standing };
}

/** What stands now under names that a command may not make, and did not stand before. Sorted, without what lies below another. */
export function unexpected({ list }: Pick<WorkspaceSource, "list">, judge: ScopeJudge, standing: Standing): readonly string[] {
  const found: string[] = [];
  const entries = counter();
  const visit = (directory: string): void => {
    if (judge.isWhole(directory)) return;
    for (const { name, kind } of list(directory)) {
      entries();
      const path = directory === "." ? name : `${directory}/${name}`;
      if (standing.has(path)) {
        if (kind === "directory" && judge.entry(path, true) === "read") visit(path);
        continue;
      }
      if (judge.entry(path, kind === "directory") !== "write" && judge.below(directory) === "write") found.push(path);
      else if (kind === "directory") visit(path);
    }
  };
  visit(".");
  return found.sort();
}

function readOrWrite(reach: Reach): "read" | "write" {
  return reach === "write" ? "write" : "read";
}

function at(root: string, path: string): string {
  return path === "." ? root : `${root}/${path}`;
}

function counter(): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > SANDBOX_ENTRIES_MAX) throw tooMuch("the workspace has more files than can be looked at before a command");
  };
}

function tooMuch(message: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `${message}; it did not run`,
    "ask the operator for a simpler scope or a smaller workspace",
  );
}
