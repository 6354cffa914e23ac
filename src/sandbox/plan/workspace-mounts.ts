/**
 * Translates the scope of a call into mounts of its workspace.
 *
 * The judgement that file tools ask for is asked about everything that stands in the workspace, and becomes what a
 * command may see and change. It is pure but for the tree that is handed in.
 *
 * INVARIANTS: what may not be read is not seen, and what may not be written is read-only. A directory can be written
 * only where anything new in it could be. Every directory above such a mount is a mount itself. Mount points cannot be
 * renamed, so a path cannot be moved out from under its rule. Links lead nowhere else.
 *
 * What mounts cannot stop, such as names that are not the command's to make, stays in the command's view and does not
 * land (`landing/landing.ts`).
 */
import { dirname } from "node:path";
import { assert } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { INSIDE_WORKSPACE, type SandboxMount } from "./plan.ts";

/** Mounts that the scope of one command may need: each costs a system call and memory of the machine's kernel. */
export const SANDBOX_MOUNTS_MAX = 4096;
/** Files and directories that are looked at before a command: more than twice what commands may leave. */
export const SANDBOX_ENTRIES_MAX = 2_000_000;
/** Entries of a directory that are looked at between two looks at the clock. */
export const SANDBOX_ENTRIES_PER_STEP = 200;

/** What a command may do with one file or directory. */
export type Reach = "hidden" | "read" | "write";

/** One effect of a command, before it lands. */
export interface CommandEffect {
  readonly path: string;
  readonly kind: "create" | "modify" | "delete" | "mode";
  readonly isDirectory: boolean;
  /** Of a file or link, as it would be; of one that goes, as it is. */
  readonly bytes: number;
  /** Whether it would be a program. */
  readonly isExecutable: boolean;
  /** Everybody could write it afterwards, and could not before. */
  readonly opens?: boolean;
  /** Where a link would lead: the text in it. */
  readonly linksTo?: string;
}

/** The scope of a call. Paths are relative to the workspace root, which is `.`. */
export interface ScopeJudge {
  /** Of something that is there. */
  readonly entry: (path: string, isDirectory: boolean) => Reach;
  /** Of anything new below a directory. */
  readonly below: (directory: string) => "read" | "write";
  /**
   * Whether a link may be made there; as `entry` says when absent. A link leads past whatever is said of paths through
   * it.
   */
  readonly allowsLink?: (path: string) => boolean;
  /**
   * Whether an effect on what may be written lands, lands once a person agrees, or is dropped; it lands when absent.
   */
  readonly commit?: (effect: CommandEffect) => "lands" | "asks" | "drops";
  /** Directories that are one thing: what they hold is not looked at. */
  readonly isWhole: (directory: string) => boolean;
  /**
   * Whether a directory that looks like a repository of git under a name of its own is hidden, whatever `entry` says.
   */
  readonly hidesRepository?: (directory: string) => boolean;
  /** Whether a path is one of a repository that is meant to be one, so that it makes no look-alike of one. */
  readonly isOfRepository?: (path: string) => boolean;
}

/** An entry of a directory, as far as mounts look at it. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
  /** `false` where the name's bytes are no UTF-8, so that `name` is not what it is called. */
  readonly isText?: boolean;
}

/** A tree of files. */
export interface Tree {
  /** What a directory holds, in any order; nothing when it is gone, `undefined` when it may not be looked at. */
  readonly list: (directory: string) => Generator<void, readonly TreeEntry[] | undefined>;
  /** Another stamp, another directory or other things in it; `undefined` where that cannot be told. */
  readonly stamp: (directory: string) => string | undefined;
}

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
  readonly entries: number;
}

/**
 * A look at a workspace that takes its time. Directories that change after they were listed are looked at again before
 * anything is made of it, so that all of it holds at one moment.
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

  /**
   * Looks at everything. @throws ToolFailure SANDBOX_UNAVAILABLE when there is too much of it, or what is there cannot
   * be mounted
   */
  *steps(): Generator<void> {
    const open = ["."];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const looked = yield* this.#look(next);
      this.#looked.set(next, looked);
      for (const name of looked.directories) open.push(inDirectory(next, name));
      yield;
    }
  }

  /** Files and directories that were seen. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Looks again at what has changed since it was looked at, or may have. Where a whole renewal meets no change, all
   * that was seen held when it began.
   * @returns whether something had changed
   * @throws ToolFailure as `steps`
   */
  *renewal(): Generator<void, boolean> {
    const open = ["."];
    let hasChanged = false;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const known = this.#looked.get(next);
      const isSame = known?.stamp !== undefined && known.stamp === this.#tree.stamp(next);
      const looked = isSame ? known : this.#lookAgain(next, known);
      hasChanged ||= !isSame && !(known !== undefined && isAlike(known, looked));
      for (const name of looked.directories) open.push(inDirectory(next, name));
      yield;
    }
    return hasChanged;
  }

  /** What it comes to. @throws ToolFailure SANDBOX_UNAVAILABLE when the mounts are too many */
  *result(): Generator<void, readonly SandboxMount[]> {
    const directories = ["."];
    for (const directory of directories) {
      for (const name of this.#seen(directory).directories) directories.push(inDirectory(directory, name));
      yield;
    }
    // what lies deeper comes first
    const made = new Map<string, readonly SandboxMount[]>();
    for (const directory of directories.reverse()) {
      made.set(directory, this.#mountsOf(directory, made));
      yield;
    }
    const mounts = made.get(".") ?? [];
    if (mounts.length > SANDBOX_MOUNTS_MAX) throw tooManyMounts();
    return mounts;
  }

  /** @param made the mounts of the directories in it */
  #mountsOf(directory: string, made: ReadonlyMap<string, readonly SandboxMount[]>): readonly SandboxMount[] {
    const { below, mounts, directories } = this.#seen(directory);
    if (below === undefined) return mounts;
    const deeper = directories.flatMap((name) => made.get(inDirectory(directory, name)) ?? []);
    const inner = deeper.length === 0 ? mounts : [...mounts, ...deeper];
    const inherited = directory === "." ? undefined : this.#seen(dirname(directory)).below;
    if (below === inherited && inner.length === 0) return inner;
    return [this.#shown(directory, below), ...inner];
  }

  #seen(directory: string): Looked {
    const looked = this.#looked.get(directory);
    assert(looked, "every directory was looked at");
    return looked;
  }

  #shown(path: string, reach: "read" | "write"): SandboxMount {
    return {
      kind: reach === "write" ? "writable" : "read_only",
      source: at(this.#source, path),
      target: at(INSIDE_WORKSPACE, path),
    };
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
    const listed = yield* this.#tree.list(directory);
    if (listed === undefined) return closed(directory, stamp);
    // What it is depends on more than its own stamp tells.
    const isUncertain = !isWhole && directory !== "." && mayBeRepository(listed);
    if (
      isUncertain &&
      isStore(yield* this.#tree.list(`${directory}/objects`)) &&
      this.#judge.hidesRepository?.(directory) === true
    ) {
      return unseen(directory, undefined);
    }
    const mounts: SandboxMount[] = [];
    const directories: string[] = [];
    this.#count(listed.length);
    for (const [index, { name, kind, isText }] of listed.entries()) {
      if (index % SANDBOX_ENTRIES_PER_STEP === SANDBOX_ENTRIES_PER_STEP - 1) yield;
      // Sockets and the like lead to programs of the machine, also where nothing else is looked at.
      if (isWhole && kind !== "other") continue;
      const path = inDirectory(directory, name);
      const reach = kind === "other" ? "hidden" : this.#judge.entry(path, kind === "directory");
      if (kind === "link") continue;
      // Nothing can be mounted under such a name, and nothing found out about a directory.
      if ((kind === "directory" || reach !== below) && isText === false) {
        throw notStarted(`the workspace has a name that is not UTF-8 (\`${path}\`)`);
      }
      if (reach === "hidden") mounts.push(hidden(path, kind));
      else if (kind === "directory") directories.push(name);
      else if (reach !== below) mounts.push(this.#shown(path, reach));
      if (this.#mounts + mounts.length > SANDBOX_MOUNTS_MAX) throw tooManyMounts();
    }
    this.#mounts += mounts.length;
    return { stamp: isUncertain ? undefined : stamp, below, mounts, directories, entries: listed.length };
  }

  #count(entries: number): void {
    this.#entries += entries;
    if (this.#entries > SANDBOX_ENTRIES_MAX) throw notStarted("the workspace has more files than can be looked at");
  }
}

/** Whether a directory that was looked at twice holds the same, as the judge sees it. */
function isAlike(first: Looked, second: Looked): boolean {
  const [one, other] = [first, second].map((looked) => JSON.stringify({ ...looked, stamp: "" }));
  return one === other;
}

/** Its owner could open it again, with everything in it that nobody has judged. */
function closed(directory: string, stamp: string | undefined): Looked {
  if (directory === ".") throw notStarted("the workspace cannot be read");
  return unseen(directory, stamp);
}

function unseen(directory: string, stamp: string | undefined): Looked {
  return { stamp, below: undefined, mounts: [hidden(directory, "directory")], directories: [], entries: 0 };
}

function hidden(path: string, kind: TreeEntry["kind"]): SandboxMount {
  return { kind: kind === "directory" ? "hide_directory" : "hide_file", target: at(INSIDE_WORKSPACE, path) };
}

/** The refusal of a plan that is too large. */
export function tooManyMounts(): ToolFailure {
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

/**
 * Whether a directory may have what every repository of git has, and nobody takes away without taking it away as a
 * repository.
 */
function mayBeRepository(listed: readonly TreeEntry[]): boolean {
  const has = (name: string) => listed.some((entry) => entry.name === name && entry.kind === "directory");
  return has("objects") && has("refs");
}

function isStore(listed: readonly TreeEntry[] | undefined): boolean {
  return listed?.some(({ name, kind }) => kind === "directory" && STORE.test(name)) ?? true;
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
    "ask the operator for a simpler scope or a smaller workspace; `handrail doctor --workspace DIR` says what stands in the way",
  );
}
