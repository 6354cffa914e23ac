/**
 * Plans a landing: which of a command's changes the workspace takes, in which steps, and which it does not. Looks at
 * the workspace, and changes nothing.
 *
 * INVARIANTS: no step touches what the judge does not let the call write, nor what somebody changed since the view
 * began, nor what stands in a directory that somebody put in another's place; what is made comes before what is
 * removed, and where anything is not kept that may have been moved there, nothing is removed, so that no content is
 * lost.
 */
import { closeSync, fstatSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import type { ExecLanded, NotKeptReason } from "../../model/work/exec.ts";
import type { SeenDirectory } from "../host/workspace-tree.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { CommandEffect, ScopeJudge } from "../plan/workspace-mounts.ts";
import type { Change } from "./changes.ts";
import { MovedFiles } from "./moved-files.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import { effectOf, LandingRules, rightsEffect } from "./rules.ts";
import { isSameFile, nameOf, parentOf, type Standing, standingAt } from "./standing.ts";
import { heldBack, lyingBelow, type NewTree, overwrites, removes, type Step } from "./steps.ts";

/** What a landing is planned from. */
export interface LandingPlace {
  /** An open descriptor of the workspace. */
  readonly root: number;
  /** An open descriptor of the view's upper directory. */
  readonly upper: number;
  readonly judge: ScopeJudge;
  /** A person was asked about what asks, and did not agree: it does not land. */
  readonly isRefused?: boolean;
  /**
   * Nanoseconds of the time at which the view began, as the workspace's file system counts: what changed then or later
   * was somebody else's doing.
   */
  readonly sinceNs: bigint;
  /**
   * Called with the number of new files, directories and links, and by how many bytes the workspace grows.
   * @throws ToolFailure OUTPUT_LIMIT when that is too much
   */
  readonly admit: (made: number, bytes: number) => void;
  /** A directory as it was when the view began, where that was looked at. */
  readonly known: (directory: string) => SeenDirectory | undefined;
}

/** The steps in their order, and what is not kept. */
export interface LandingPlan {
  /**
   * Stages, one after the other: what is new; what overwrites files; what takes the place of something of another kind,
   * which is removed before; what is only removed. Where something of a stage cannot be made, what later ones would
   * take away may have been moved there: a file that another one overwrites, or any where something has gone, or where
   * something of its size is not kept.
   */
  readonly stages: readonly (readonly Step[])[];
  readonly notKept: ExecLanded["notKept"];
  /** Effects that land once a person agrees. */
  readonly asked: readonly CommandEffect[];
}

/** Plans the landing of `changes`, in which directories come before what lies in them. */
export function* planLanding(place: LandingPlace, changes: readonly Change[]): Generator<void, LandingPlan> {
  const planner = new Planner(place, changes);
  try {
    for (const change of changes) {
      yield* planner.add(change);
      yield;
    }
    return planner.plan();
  } finally {
    planner.close();
  }
}

/** Of a directory, the bit that lets only owners remove from it included. */
const RIGHTS = 0o1777;

function rightsOf(mode: number): number {
  return mode & RIGHTS;
}

class Planner {
  readonly #place: LandingPlace;
  readonly #upper: string;
  /** What the view holds: of a directory that it replaces everything else goes. */
  readonly #held: ReadonlySet<string>;
  readonly #rules: LandingRules;
  readonly #steps: Step[] = [];
  readonly #notKept: { readonly path: string; readonly reason: NotKeptReason }[] = [];
  /** Directories whose contents are not kept either. */
  readonly #dropped = new Set<string>();
  /** Directories in which nothing of what lay there is left. */
  readonly #replaced = new Set<string>();
  /** Directories that somebody put where they are: what stands in them is not what the command saw. */
  readonly #foreign = new Set<string>();
  /** New directories, with what lands with them. */
  readonly #trees = new Map<string, NewTree>();
  /** Whether something is not kept that may have come from elsewhere in the workspace. */
  #mayHaveMoved = false;
  /** Whether what was moved may have come to where a file is overwritten: something has gone from where it was. */
  readonly #mayBeMoved: boolean;
  /** Bytes of each file and link that is not kept: one that was copied has as many as before. */
  readonly #lostBytes = new Set<number>();
  /** Whether a directory is not kept of which nobody can say what is in it. */
  #isUnknownLost = false;
  readonly #moved: MovedFiles;
  #parent: { readonly path: string; readonly descriptor: number; readonly inode: number } | undefined;

  constructor(place: LandingPlace, changes: readonly Change[]) {
    this.#place = place;
    this.#upper = `/proc/self/fd/${place.upper}`;
    this.#mayBeMoved = changes.some(({ kind, isPassedOn }) => kind === "gone" && isPassedOn !== true);
    this.#held = new Set(changes.map(({ path }) => path));
    this.#moved = new MovedFiles(changes, this.#upper);
    this.#rules = new LandingRules(place.judge, changes, place.isRefused === true);
  }

  plan(): LandingPlan {
    const replaced = new Set(this.#steps.flatMap(({ path, replaces }) => (replaces ? [path] : [])));
    const isInReplaced = lyingBelow(replaced);
    const stages: readonly Step[][] = [[], [], [], []];
    for (const step of this.#steps) {
      const isReplacement = replaced.has(step.path) || isInReplaced(step.path);
      stages[isReplacement ? 2 : overwrites(step) ? 1 : removes(step) ? 3 : 0]?.push(step);
    }
    const { asked } = this.#rules;
    if (!this.#mayHaveMoved) return { stages, notKept: this.#notKept, asked };
    const [made = [], overwritten = [], ...others] = stages;
    const mayBeLost = ({ over, isOther }: Step) =>
      isOther === true || this.#isUnknownLost || this.#mayBeMoved || this.#lostBytes.has(over?.bytes ?? 0);
    const held = [...overwritten.filter(mayBeLost), ...others.flat()];
    const kept = overwritten.filter((step) => !mayBeLost(step));
    const isHeld = new Set(held.map(({ path }) => path));
    return {
      stages: [made, kept],
      notKept: [...this.#notKept, ...heldBack(held)],
      asked: asked.filter(({ path }) => !isHeld.has(path)),
    };
  }

  close(): void {
    if (this.#parent !== undefined) closeSync(this.#parent.descriptor);
    this.#parent = undefined;
  }

  *add(change: Change): Generator<void> {
    const { path, kind } = change;
    if (change.isPassedOn === true) {
      this.#leave(change);
      return;
    }
    const isInDropped = this.#dropped.has(parentOf(path));
    const tree = this.#trees.get(parentOf(path));
    const why = isInDropped
      ? undefined
      : tree === undefined
        ? yield* this.#judged(change)
        : this.#judgedIn(tree, change);
    if (why === undefined && !isInDropped) return;
    if (why !== undefined) this.#drop(path, why);
    if (kind === "directory") this.#dropped.add(path);
    this.#mayHaveMoved ||= kind !== "gone" && kind !== "special";
    if (kind === "unnameable") this.#isUnknownLost = true;
    if (kind === "file" || kind === "link") this.#lostBytes.add(lstatSync(`${this.#upper}/${path}`).size);
  }

  /** It does not land; what the command put beside it, or into it, does where it may. */
  #leave({ path, kind }: Change): void {
    const tree = this.#trees.get(parentOf(path));
    if (tree !== undefined) tree.isClean = false;
    if (kind === "directory") this.#foreign.add(path);
  }

  /** Of what lies in a new directory. */
  #judgedIn(tree: NewTree, change: Change): NotKeptReason | undefined {
    const { path, kind } = change;
    if (kind === "gone") return undefined; // of nothing
    const why =
      kind === "unnameable"
        ? "unusable_name"
        : kind === "special"
          ? "not_a_file"
          : this.#rules.lets(path, kind)
            ? this.#rules.commits(this.#effectOf(change, undefined))
            : "not_allowed";
    if (why !== undefined) {
      tree.isClean = false;
      return why;
    }
    tree.kept.push(change);
    // Whoever wrote one of its names later would write the others, too, about which somebody may have been asked.
    if (kind === "file" && (change.names ?? 1) > 1 && this.#rules.wholeAbove(path) === undefined) tree.isClean = false;
    if (kind === "directory") this.#trees.set(path, tree);
    return undefined;
  }

  *#judged(change: Change): Generator<void, NotKeptReason | undefined> {
    const { path, kind } = change;
    if (kind === "unnameable") return "unusable_name";
    if (kind === "special") return "not_a_file";
    const there = this.#thereAt(path);
    switch (kind) {
      case "gone":
        if (there !== undefined) yield* this.#remove(path, there);
        return undefined;
      case "directory":
        return yield* this.#directory(
          { ...change, isReplaced: change.isReplaced || this.#replaced.has(parentOf(path)) },
          there,
        );
      default:
        return yield* this.#file(change, there);
    }
  }

  #effectOf(change: Change, there: Standing | undefined): CommandEffect {
    const effect = effectOf(change, there);
    return change.kind === "link" ? { ...effect, linksTo: readlinkSync(`${this.#upper}/${change.path}`) } : effect;
  }

  *#directory(change: Change, there: Standing | undefined): Generator<void, NotKeptReason | undefined> {
    const { path, isReplaced, isCopy } = change;
    const isAllowed = this.#rules.allows(path, true);
    if (there?.kind === "directory") {
      if (this.#isOthers(path, there)) {
        if (isReplaced) this.#replaced.add(path);
        this.#foreign.add(path);
        return undefined; // what is new comes to lie in it, if it may
      }
      if (isReplaced && this.#rules.wholeAbove(path) === true) {
        this.#putTree(path, { over: there, replaces: true });
        return undefined;
      }
      if (isReplaced) this.#replaced.add(path);
      if (isAllowed) this.#planRights(path, there);
      if (isReplaced) yield* this.#clear(path);
      return undefined;
    }
    if (!this.#rules.lets(path, "directory")) return "not_allowed";
    // somebody removed it: no command can move such a directory
    if (there === undefined && isCopy) return "changed_meanwhile";
    if (there !== undefined && this.#isOthers(path, there)) return "changed_meanwhile";
    const why = this.#rules.commits(this.#effectOf(change, there));
    if (why !== undefined) return why;
    this.#putTree(
      path,
      there === undefined ? { mayShape: this.#rules.mayShape(path) } : { over: there, replaces: true },
    );
    return undefined;
  }

  /** The directory lands as one thing, with what of it may land. */
  #putTree(path: string, rest: Pick<Step, "over" | "replaces" | "mayShape">): void {
    const tree: NewTree = { kept: [], isClean: true };
    this.#trees.set(path, tree);
    this.#push({ kind: "put_tree", path, tree, ...rest });
  }

  /**
   * Rights are set where the command changed them: the view's are those of the moment at which it first wrote there.
   */
  #planRights(path: string, there: Standing): void {
    const { mode } = lstatSync(`${this.#upper}/${path}`);
    if (rightsOf(mode) === rightsOf(there.mode)) return;
    const known = this.#place.known(path);
    if (known === undefined ? this.#isChanged(there) : rightsOf(mode) === rightsOf(known.mode)) return;
    if (known !== undefined && rightsOf(there.mode) !== rightsOf(known.mode))
      this.#notKept.push({ path, reason: "changed_meanwhile" });
    else this.#setRights(path, { there, mode });
  }

  #setRights(path: string, { there, mode }: { readonly there: Standing; readonly mode: number }): void {
    const why = this.#rules.commits(rightsEffect(path, mode, there));
    if (why === undefined) this.#push({ kind: "set_rights", path, over: there });
    else this.#notKept.push({ path, reason: why });
  }

  *#file(change: Change, there: Standing | undefined): Generator<void, NotKeptReason | undefined> {
    const { path, kind, isCopy } = change;
    const isDirectory = there?.kind === "directory";
    if (there !== undefined && !isDirectory) {
      const parent = this.#openParent(parentOf(path));
      if (parent !== undefined && (yield* isSameFile(`${this.#upper}/${path}`, parent.descriptor, nameOf(path))))
        return undefined;
      if (there.kind === "other") return "changed_meanwhile";
    }
    if (!this.#rules.lets(path, kind)) return "not_allowed";
    if (there === undefined && isCopy && (yield* this.#isRemoved(path))) return "changed_meanwhile";
    if (there !== undefined && this.#isOthers(path, there)) return "changed_meanwhile";
    if (isDirectory) {
      if (!this.#rules.allows(path, true)) return "not_allowed";
      const before = this.#notKept.length;
      yield* this.#clear(path);
      if (this.#notKept.length > before) return "changed_meanwhile";
    }
    const why = this.#rules.commits(this.#effectOf(change, there));
    if (why !== undefined) return why;
    this.#push({
      kind: kind === "file" ? "put_file" : "put_link",
      path,
      ...(there === undefined ? { mayShape: this.#rules.mayShape(path) } : { over: there }),
      ...(isDirectory ? { replaces: true } : there && { isOther: !isCopy }),
      ...(kind === "file" && change.bytes !== undefined && { bytes: change.bytes }),
    });
    return undefined;
  }

  /** Plans to remove what stands there, as far as it may go. @returns whether all of it goes */
  *#remove(path: string, there: Standing): Generator<void, boolean> {
    const isDirectory = there.kind === "directory";
    const why = !this.#rules.allows(path, isDirectory)
      ? "not_allowed"
      : this.#isOthers(path, there)
        ? "changed_meanwhile"
        : this.#rules.commits({ path, kind: "delete", isDirectory, bytes: there.bytes, isExecutable: false });
    if (why !== undefined) {
      this.#drop(path, why);
      return false;
    }
    if (isDirectory && !(yield* this.#clear(path))) return false;
    this.#push({ kind: isDirectory ? "remove_directory" : "remove", path, over: there });
    return true;
  }

  /** Plans to remove what lies in the directory and is not held by the view. */
  *#clear(path: string): Generator<void, boolean> {
    const directory = openBeneath(this.#place.root, path, OPEN_DIRECTORY, "plain");
    if (directory < 0) return true;
    let isEmpty = true;
    try {
      for (const entry of readdirSync(`/proc/self/fd/${directory}`, { encoding: "buffer" })) {
        yield;
        const inside = `${path}/${entry.toString()}`;
        const isText = Buffer.from(entry.toString()).equals(entry);
        if (isText && this.#held.has(inside)) continue;
        const there = isText ? standingAt(directory, entry.toString()) : undefined;
        if (there === undefined) this.#drop(inside, "unusable_name");
        if (there === undefined || !(yield* this.#remove(inside, there))) isEmpty = false;
      }
    } finally {
      closeSync(directory);
    }
    return isEmpty;
  }

  #push(step: Omit<Step, "parent">): void {
    const { path } = step;
    // where nobody can open it now, nothing can be done there later
    this.#steps.push({ ...step, parent: this.#openParent(parentOf(path))?.inode ?? NOWHERE });
  }

  #drop(path: string, reason: NotKeptReason): void {
    this.#notKept.push({ path, reason });
    this.#rules.drop(path);
  }

  #isChanged({ changedNs }: Pick<Standing, "changedNs">): boolean {
    return changedNs >= this.#place.sinceNs;
  }

  /**
   * Whether somebody else put it there, or changed it. A directory also changes by what is done in it: there it counts
   * which one it is.
   */
  #isOthers(path: string, there: Standing): boolean {
    if (this.#foreign.has(parentOf(path))) return true;
    return this.#isChanged(there) && (there.kind !== "directory" || this.#place.known(path)?.inode !== there.inode);
  }

  /** Whether somebody may have removed the file since the view began. */
  *#isRemoved(path: string): Generator<void, boolean> {
    const directory = parentOf(path);
    const opened = this.#openParent(directory);
    if (opened === undefined) return false; // the command made it
    const { ctimeNs: changedNs } = fstatSync(opened.descriptor, { bigint: true });
    if (this.#foreign.has(directory)) return true;
    return this.#isChanged({ changedNs }) && !(yield* this.#moved.isMoved(path, (gone) => this.#untouchedAt(gone)));
  }

  #untouchedAt(path: string): Standing | undefined {
    const there = this.#thereAt(path);
    return there === undefined || this.#isOthers(path, there) ? undefined : there;
  }

  #thereAt(path: string): Standing | undefined {
    const parent = this.#openParent(parentOf(path));
    return parent === undefined ? undefined : standingAt(parent.descriptor, nameOf(path));
  }

  /** The directory in the workspace, opened; `undefined` where there is none. */
  #openParent(path: string): { readonly descriptor: number; readonly inode: number } | undefined {
    if (this.#parent?.path === path) return this.#parent;
    this.close();
    const descriptor = openBeneath(this.#place.root, path === "" ? "." : path, OPEN_DIRECTORY, "plain");
    if (descriptor < 0) return undefined;
    this.#parent = { path, descriptor, inode: fstatSync(descriptor).ino };
    return this.#parent;
  }
}

/** No directory has this number. */
const NOWHERE = 0;
