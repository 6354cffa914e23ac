/**
 * The scope of a call as mounts: the same judgement that file tools ask is asked about everything that stands in the workspace, and becomes
 * what a command may see and change. Pure but for the tree that is handed in.
 *
 * INVARIANTS: what may not be read is not seen, what may not be written is read only; a directory can be written only where anything new in it
 * could be; a directory above such a mount is one itself, because the machine lets nobody rename those: what holds for a path cannot be shed by moving it. Links lead
 * nowhere else. What mounts cannot stop is found afterwards: what a command makes anew under a name that is not its to make (`unexpected`), and links
 * that it removes (`lostLinks`), whose directories stay where they are.
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

/** A tree of files. */
export interface Tree {
  /** What a directory holds, in any order; nothing when it is gone, `undefined` when it may not be looked at. */
  readonly list: (directory: string) => readonly TreeEntry[] | undefined;
  /** Where a link leads, as it says, byte by byte as Latin-1; nothing when it is gone or no link. */
  readonly readLink: (path: string) => string;
}

/** Names under which something may not be made, and that were there before; for links with where they led. */
export type Standing = ReadonlyMap<string, string>;

/** The mounts of one run. */
export interface WorkspaceMounts {
  readonly mounts: readonly SandboxMount[];
  readonly standing: Standing;
}

/** Where something leads that is no link. */
const NO_LINK = "";
/** What stands in a name for bytes that are not UTF-8. */
const NOT_TEXT = "\u{fffd}";

/**
 * The mounts that `judge` comes to.
 * @param source where mounts find the workspace, absolute
 * @throws ToolFailure SANDBOX_UNAVAILABLE when they are too many, or the tree is too large to look at
 */
export function workspaceMounts(source: string, tree: Tree, judge: ScopeJudge): WorkspaceMounts {
  const standing = new Map<string, string>();
  const entries = counter(notStarted);
  let count = 0;
  const counted = (mount: SandboxMount): SandboxMount => {
    count += 1;
    if (count > SANDBOX_MOUNTS_MAX) throw notStarted("the scope needs more mounts than a command can be given");
    return mount;
  };
  const shown = (path: string, reach: "read" | "write"): SandboxMount =>
    counted({ kind: reach === "write" ? "writable" : "read_only", source: at(source, path), target: at(INSIDE_WORKSPACE, path) });
  const hidden = (path: string, kind: TreeEntry["kind"]): SandboxMount =>
    counted({ kind: kind === "directory" ? "hide_directory" : "hide_file", target: at(INSIDE_WORKSPACE, path) });

  const entry = (path: string, kind: TreeEntry["kind"], inherited: "read" | "write"): readonly SandboxMount[] => {
    const reach = kind === "other" ? "hidden" : judge.entry(path, kind === "directory");
    if (reach !== "write") standing.set(path, kind === "link" ? tree.readLink(path) : NO_LINK);
    if (kind === "link") return [];
    // Nothing can be mounted under such a name, and nothing found out about a directory.
    if ((kind === "directory" || reach !== inherited) && path.includes(NOT_TEXT)) {
      throw notStarted(`the workspace has a name that is not UTF-8 (\`${path}\`)`);
    }
    if (reach === "hidden") return [hidden(path, kind)];
    if (kind === "directory") return visit(path, inherited);
    return reach === inherited ? [] : [shown(path, reach)];
  };
  const visit = (directory: string, inherited: "read" | "write" | undefined): readonly SandboxMount[] => {
    const isWhole = judge.isWhole(directory);
    const below = isWhole ? readOrWrite(judge.entry(directory, true)) : judge.below(directory);
    const listed = tree.list(directory);
    if (listed === undefined && directory === ".") throw notStarted("the workspace cannot be read");
    // Its owner could open it again, with everything in it that nobody has judged.
    if (listed === undefined) return [hidden(directory, "directory")];
    const inner: SandboxMount[] = [];
    let isHeld = false;
    for (const { name, kind } of listed) {
      entries();
      // Sockets and the like lead to programs of the machine, also where nothing else is looked at.
      const path = inDirectory(directory, name);
      if (!isWhole || kind === "other") inner.push(...entry(path, kind, below));
      // A directory that is a mount cannot be moved away with the links in it that must stay.
      isHeld ||= kind === "link" && below === "write" && standing.has(path);
    }
    return below === inherited && inner.length === 0 && !isHeld ? inner : [shown(directory, below), ...inner];
  };
  return { mounts: visit(".", undefined), standing };
}

/**
 * What stands now under names that a command may not make, and did not stand before. Sorted, without what lies below another.
 * @throws ToolFailure OUTCOME_UNKNOWN when the tree is too large to look at
 */
export function unexpected(tree: Tree, judge: ScopeJudge, standing: Standing): readonly string[] {
  const found: string[] = [];
  const entries = counter(notLookedAt);
  const isStanding = (path: string, kind: TreeEntry["kind"]): boolean =>
    standing.get(path) === (kind === "link" ? tree.readLink(path) : NO_LINK);
  const visit = (directory: string): void => {
    if (judge.isWhole(directory)) return;
    for (const { name, kind } of tree.list(directory) ?? []) {
      entries();
      const path = inDirectory(directory, name);
      if (isStanding(path, kind)) {
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

/** A link that is gone, and where it led. */
export interface LostLink {
  readonly path: string;
  /** Byte by byte as Latin-1. */
  readonly points: string;
}

/** Links that stood under names that were not the command's to touch, and do not stand there any more. */
export function lostLinks(tree: Tree, standing: Standing): readonly LostLink[] {
  return [...standing].flatMap(([path, points]) => (points === NO_LINK || tree.readLink(path) === points ? [] : [{ path, points }]));
}

function inDirectory(directory: string, name: string): string {
  return directory === "." ? name : `${directory}/${name}`;
}

function readOrWrite(reach: Reach): "read" | "write" {
  return reach === "write" ? "write" : "read";
}

function at(root: string, path: string): string {
  return path === "." ? root : `${root}/${path}`;
}

function counter(failure: (message: string) => ToolFailure): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > SANDBOX_ENTRIES_MAX) throw failure("the workspace has more files than can be looked at");
  };
}

function notStarted(message: string): ToolFailure {
  return new ToolFailure(
    "SANDBOX_UNAVAILABLE",
    `${message}; the command did not run`,
    "ask the operator for a simpler scope or a smaller workspace",
  );
}

function notLookedAt(message: string): ToolFailure {
  return new ToolFailure("OUTCOME_UNKNOWN", `the command ran, but ${message} afterwards`, "ask the operator to look at the workspace");
}
