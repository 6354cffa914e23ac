/**
 * The scope of a call as mounts: the same judgement that file tools ask is asked about everything that stands in the workspace, and becomes
 * what a command may see and change. Pure but for the tree that is handed in.
 *
 * INVARIANTS: what may not be read is not seen, what may not be written is read only; a directory can be written only where anything new in it
 * could be; a directory above such a mount is one itself, because the machine lets nobody rename those: what holds for a path cannot be shed by moving it. Links lead
 * nowhere else. What mounts cannot stop is found afterwards: what a command makes anew under a name that is not its to make (`unexpected`), and links
 * that it removes (`lostLinks`), whose directories stay where they are.
 */
import { assert } from "../../base/errors.ts";
import { SANDBOX_ENTRIES_MAX, SANDBOX_ENTRIES_PER_STEP, SANDBOX_MOUNTS_MAX } from "../../base/limits.ts";
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
  /** Another stamp, another directory or other things in it; `undefined` where that cannot be told. */
  readonly stamp: (directory: string) => string | undefined;
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

/** What was seen of one directory, as the judge sees it. */
interface Looked {
  /** Of the directory right before it was listed. */
  readonly stamp: string | undefined;
  /** Of anything new in it; `undefined` for one that is hidden as a whole. */
  readonly below: "read" | "write" | undefined;
  /** Of what lies in it, but for the directories that are looked at themselves. */
  readonly mounts: readonly SandboxMount[];
  /** Their names. */
  readonly directories: readonly string[];
  readonly standing: readonly (readonly [path: string, points: string])[];
  /** Whether it holds a link that must stay, and is to be a mount: one cannot be moved away. */
  readonly isHeld: boolean;
  readonly entries: number;
}

/**
 * A look at a workspace that takes its time. Directories that change after they were listed are looked at again before anything is made of it, so that all
 * of it holds at one moment.
 */
export class WorkspaceLook {
  readonly #source: string;
  readonly #tree: Tree;
  readonly #judge: ScopeJudge;
  readonly #looked = new Map<string, Looked>();
  #entries = 0;
  #mounts = 0;

  /** @param source where mounts find the workspace, absolute */
  constructor(source: string, tree: Tree, judge: ScopeJudge) {
    this.#source = source;
    this.#tree = tree;
    this.#judge = judge;
  }

  /** Looks at everything. @throws ToolFailure SANDBOX_UNAVAILABLE when there is too much of it, or what is there cannot be mounted */
  *steps(): Generator<void> {
    const open = ["."];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const looked = yield* this.#look(next);
      this.#looked.set(next, looked);
      for (const name of looked.directories) open.push(inDirectory(next, name));
      yield;
    }
  }

  /** Looks again, at once, at what has changed since it was looked at, or may have. @throws ToolFailure as `steps` */
  renew(): void {
    const open = ["."];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const known = this.#looked.get(next);
      const isSame = known?.stamp !== undefined && known.stamp === this.#tree.stamp(next);
      const looked = isSame ? known : this.#lookAgain(next, known);
      for (const name of looked.directories) open.push(inDirectory(next, name));
    }
  }

  /** What it comes to. @throws ToolFailure SANDBOX_UNAVAILABLE when the mounts are too many */
  result(): WorkspaceMounts {
    const standing = new Map<string, string>();
    const mounts = this.#mountsOf(".", undefined, standing);
    if (mounts.length > SANDBOX_MOUNTS_MAX) throw tooManyMounts();
    return { mounts, standing };
  }

  #mountsOf(directory: string, inherited: "read" | "write" | undefined, standing: Map<string, string>): readonly SandboxMount[] {
    const looked = this.#looked.get(directory);
    assert(looked, "every directory was looked at");
    for (const [path, points] of looked.standing) standing.set(path, points);
    const { below } = looked;
    if (below === undefined) return looked.mounts;
    const deeper = looked.directories.flatMap((name) => this.#mountsOf(inDirectory(directory, name), below, standing));
    const inner = deeper.length === 0 ? looked.mounts : [...looked.mounts, ...deeper];
    if (below === inherited && inner.length === 0 && !looked.isHeld) return inner;
    return [this.#shown(directory, below), ...inner];
  }

  #shown(path: string, reach: "read" | "write"): SandboxMount {
    return { kind: reach === "write" ? "writable" : "read_only", source: at(this.#source, path), target: at(INSIDE_WORKSPACE, path) };
  }

  #lookAgain(directory: string, known: Looked | undefined): Looked {
    this.#entries -= known?.entries ?? 0;
    this.#mounts -= known?.mounts.length ?? 0;
    const looked = atOnce(this.#look(directory));
    this.#looked.set(directory, looked);
    return looked;
  }

  *#look(directory: string): Generator<void, Looked> {
    const stamp = this.#tree.stamp(directory);
    const isWhole = this.#judge.isWhole(directory);
    const below = isWhole ? readOrWrite(this.#judge.entry(directory, true)) : this.#judge.below(directory);
    const listed = this.#tree.list(directory);
    if (listed === undefined) return closed(directory, stamp);
    // What it is depends on more than its own stamp tells.
    const isUncertain = !isWhole && directory !== "." && mayBeRepository(listed);
    if (isUncertain && isStore(this.#tree.list(`${directory}/objects`)) && this.#judge.hidesRepository?.(directory) === true) {
      return unseen(directory, undefined, NO_LINK);
    }
    const mounts: SandboxMount[] = [];
    const directories: string[] = [];
    const standing: [string, string][] = [];
    let isHeld = false;
    this.#count(listed.length);
    for (const [index, { name, kind }] of listed.entries()) {
      if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      // Sockets and the like lead to programs of the machine, also where nothing else is looked at.
      if (isWhole && kind !== "other") continue;
      const path = inDirectory(directory, name);
      const reach = kind === "other" ? "hidden" : this.#judge.entry(path, kind === "directory");
      // In a directory that cannot be written nothing is made anew and no link removed.
      const isNoted = reach !== "write" && (below === "write" || kind === "directory");
      if (isNoted) standing.push([path, kind === "link" ? this.#tree.readLink(path) : NO_LINK]);
      isHeld ||= kind === "link" && isNoted;
      if (kind === "link") continue;
      // Nothing can be mounted under such a name, and nothing found out about a directory.
      if ((kind === "directory" || reach !== below) && path.includes(NOT_TEXT)) {
        throw notStarted(`the workspace has a name that is not UTF-8 (\`${path}\`)`);
      }
      if (reach === "hidden") mounts.push(hidden(path, kind));
      else if (kind === "directory") directories.push(name);
      else if (reach !== below) mounts.push(this.#shown(path, reach));
      if (this.#mounts + mounts.length > SANDBOX_MOUNTS_MAX) throw tooManyMounts();
    }
    this.#mounts += mounts.length;
    return { stamp: isUncertain ? undefined : stamp, below, mounts, directories, standing, isHeld, entries: listed.length };
  }

  #count(entries: number): void {
    this.#entries += entries;
    if (this.#entries > SANDBOX_ENTRIES_MAX) throw notStarted("the workspace has more files than can be looked at");
  }
}

/** Its owner could open it again, with everything in it that nobody has judged. */
function closed(directory: string, stamp: string | undefined): Looked {
  if (directory === ".") throw notStarted("the workspace cannot be read");
  return unseen(directory, stamp, CLOSED);
}

function unseen(directory: string, stamp: string | undefined, points: string): Looked {
  const standing = [[directory, points]] as const;
  return { stamp, below: undefined, mounts: [hidden(directory, "directory")], directories: [], standing, isHeld: false, entries: 0 };
}

function hidden(path: string, kind: TreeEntry["kind"]): SandboxMount {
  return { kind: kind === "directory" ? "hide_directory" : "hide_file", target: at(INSIDE_WORKSPACE, path) };
}

function tooManyMounts(): ToolFailure {
  return notStarted("the scope needs more mounts than a command can be given");
}

/** The whole of the work of `steps`. */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Directories that a store of objects has; those of loose objects bear the first two digits of their names. */
const STORE = /^(?:info|pack|[0-9a-f]{2})$/;

/** Whether a directory may have what every repository of git has, and nobody takes away without taking it away as a repository. */
function mayBeRepository(listed: readonly TreeEntry[]): boolean {
  const has = (name: string) => listed.some((entry) => entry.name === name && entry.kind === "directory");
  return has("objects") && has("refs");
}

function isStore(listed: readonly TreeEntry[] | undefined): boolean {
  return listed?.some(({ name, kind }) => kind === "directory" && STORE.test(name)) ?? true;
}

/** What is found of a workspace after a command. */
export interface Unexpected {
  /** Sorted, without what lies below another. */
  readonly paths: readonly string[];
  /** Why that may not be all: a command can make a tree that nobody can look at. OUTCOME_UNKNOWN, because it ran. */
  readonly problem: ToolFailure | undefined;
}

/**
 * Looks for what stands now under names that a command may not make, and did not stand before. Each directory is looked at to its end before
 * those in it, so that what cannot be looked at hides nothing that lies beside it.
 */
export function* unexpected(tree: Tree, judge: ScopeJudge, standing: Standing): Generator<void, Unexpected> {
  const paths: string[] = [];
  let problem: ToolFailure | undefined;
  let entries = 0;
  const isStanding = (path: string, kind: TreeEntry["kind"]): boolean =>
    standing.get(path) === (kind === "link" ? tree.readLink(path) : NO_LINK);
  /** Whether what lies in it is to be looked at, too. */
  const lookAt = (directory: string, { name, kind }: TreeEntry): boolean => {
    const path = inDirectory(directory, name);
    const isDirectory = kind === "directory";
    if (isDirectory && standing.get(path) === CLOSED) return false;
    const reach = judge.entry(path, isDirectory);
    if (isStanding(path, kind)) return isDirectory && reach === "read";
    if (reach === "write" || judge.below(directory) !== "write") return isDirectory;
    paths.push(path);
    return false;
  };
  const listed = (directory: string): readonly TreeEntry[] => {
    if (entries > SANDBOX_ENTRIES_MAX) throw notLookedAt("the workspace has more files than can be looked at");
    if (directory.includes(NOT_TEXT)) throw notLookedAt(`the workspace has a directory whose name is not UTF-8 (\`${directory}\`)`);
    const found = tree.list(directory);
    if (found === undefined) throw notLookedAt(`a directory of the workspace cannot be looked at (\`${directory}\`)`);
    entries += found.length;
    return found;
  };
  const open = ["."];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    try {
      if (judge.isWhole(directory)) continue;
      const deeper: string[] = [];
      for (const [index, entry] of listed(directory).entries()) {
        if (lookAt(directory, entry)) deeper.push(inDirectory(directory, entry.name));
        if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      }
      for (const path of deeper) open.push(path);
    } catch (error) {
      problem ??=
        error instanceof ToolFailure ? notLookedAt(error.message, error) : notLookedAt("the workspace cannot be looked at", error);
    }
    yield;
  }
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
