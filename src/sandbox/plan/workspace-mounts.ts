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
  /** Whether a directory that looks like a repository of git under a name of its own is hidden, whatever `entry` says. */
  readonly hidesRepository?: (directory: string) => boolean;
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
/** What stands in the place of a directory that could not be looked at before: no link says that. */
const CLOSED = "\0";
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
    // In a directory that cannot be written nothing is made anew and no link removed.
    const isNoted = reach !== "write" && (inherited === "write" || kind === "directory");
    if (isNoted) standing.set(path, kind === "link" ? tree.readLink(path) : NO_LINK);
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
    if (listed === undefined) {
      standing.set(directory, CLOSED);
      return [hidden(directory, "directory")];
    }
    if (!isWhole && directory !== "." && isRepository(tree, directory, listed) && judge.hidesRepository?.(directory) === true) {
      standing.set(directory, NO_LINK);
      return [hidden(directory, "directory")];
    }
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

/** Directories that a store of objects has; those of loose objects bear the first two digits of their names. */
const STORE = /^(?:info|pack|[0-9a-f]{2})$/;

/** Whether a directory has what every repository of git has, and nobody takes away without taking it away as a repository. */
function isRepository(tree: Tree, directory: string, listed: readonly TreeEntry[]): boolean {
  const has = (name: string) => listed.some((entry) => entry.name === name && entry.kind === "directory");
  if (!has("objects") || !has("refs")) return false;
  return tree.list(`${directory}/objects`)?.some(({ name, kind }) => kind === "directory" && STORE.test(name)) ?? true;
}

/** What is found of a workspace after a command. */
export interface Unexpected {
  /** Sorted, without what lies below another. */
  readonly paths: readonly string[];
  /** Why that may not be all: a command can make a tree that nobody can look at. OUTCOME_UNKNOWN, because it ran. */
  readonly problem: ToolFailure | undefined;
}

/**
 * What stands now under names that a command may not make, and did not stand before. Each directory is looked at to its end before
 * those in it, so that what cannot be looked at hides nothing that lies beside it.
 */
export function unexpected(tree: Tree, judge: ScopeJudge, standing: Standing): Unexpected {
  const paths: string[] = [];
  let problem: ToolFailure | undefined;
  let entries = 0;
  const isStanding = (path: string, kind: TreeEntry["kind"]): boolean =>
    standing.get(path) === (kind === "link" ? tree.readLink(path) : NO_LINK);
  /** The names of directories in `directory` that are to be looked at, too. */
  const look = (directory: string): readonly string[] => {
    if (entries > SANDBOX_ENTRIES_MAX) throw notLookedAt("the workspace has more files than can be looked at");
    if (directory.includes(NOT_TEXT)) throw notLookedAt(`the workspace has a directory whose name is not UTF-8 (\`${directory}\`)`);
    const listed = tree.list(directory);
    if (listed === undefined) throw notLookedAt(`a directory of the workspace cannot be looked at (\`${directory}\`)`);
    entries += listed.length;
    return listed.flatMap(({ name, kind }) => {
      const path = inDirectory(directory, name);
      const isDirectory = kind === "directory";
      if (isDirectory && standing.get(path) === CLOSED) return [];
      const reach = judge.entry(path, isDirectory);
      if (isStanding(path, kind)) return isDirectory && reach === "read" ? name : [];
      if (reach === "write" || judge.below(directory) !== "write") return isDirectory ? name : [];
      paths.push(path);
      return [];
    });
  };
  const visit = (directory: string): void => {
    if (judge.isWhole(directory)) return;
    try {
      for (const name of look(directory)) visit(inDirectory(directory, name));
    } catch (error) {
      problem ??=
        error instanceof ToolFailure ? notLookedAt(error.message, error) : notLookedAt("the workspace cannot be looked at", error);
    }
  };
  visit(".");
  return { paths: paths.sort(), problem };
}

/** A link that is gone, and where it led. */
export interface LostLink {
  readonly path: string;
  /** Byte by byte as Latin-1. */
  readonly points: string;
}

/** Links that stood under names that were not the command's to touch, and do not stand there any more. */
export function lostLinks(tree: Tree, standing: Standing): readonly LostLink[] {
  return [...standing].flatMap(([path, points]) =>
    points === NO_LINK || points === CLOSED || tree.readLink(path) === points ? [] : [{ path, points }],
  );
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

/** What could not be looked at keeps its own sentence. */
function notLookedAt(message: string, cause?: unknown): ToolFailure {
  if (cause instanceof ToolFailure && cause.code === "OUTCOME_UNKNOWN") return cause;
  const said = `the command ran, but afterwards ${message}`;
  const unforeseen = cause instanceof ToolFailure ? undefined : cause;
  return new ToolFailure("OUTCOME_UNKNOWN", said, "ask the operator to look at the workspace", undefined, unforeseen);
}
