/**
 * Plans a landing: which of a command's changes the workspace takes, in which steps, and which it does not. Looks at the workspace, and changes nothing.
 *
 * INVARIANTS: no step touches what the judge does not let the call write, nor what somebody changed since the view began; where anything is not kept that may
 * have been moved there, nothing is removed, so that no content is lost.
 */
import { closeSync, constants, lstatSync, readdirSync } from "node:fs";
import { shapesRepository } from "../../model/place/repository-shape.ts";
import type { ExecLanded, NotKeptReason } from "../../model/work/exec.ts";
import type { NewFiles } from "../files/new-files.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import type { Change } from "./changes.ts";
import { isSameFile, nameOf, parentOf, type Standing, standingAt } from "./standing.ts";

/** What a landing works on. */
export interface LandingPlace {
  /** An open descriptor of the workspace. */
  readonly root: number;
  /** An open descriptor of the view's upper directory. */
  readonly upper: number;
  readonly judge: ScopeJudge;
  readonly newFiles: NewFiles;
  /** Nanoseconds of the time at which the view began, as the workspace's file system counts: what changed then or later was somebody else's doing. */
  readonly sinceNs: bigint;
}

/** One step. What is there before a file lands is replaced; before a directory is made it is removed by a step of its own. */
export interface Step {
  readonly kind: "remove" | "remove_directory" | "make_directory" | "set_rights" | "put_file" | "put_link";
  readonly path: string;
  /** Whether something of another kind stands there and is removed before. */
  readonly replaces?: boolean;
  /** Whether a file or link stands there and is replaced. */
  readonly overwrites?: boolean;
}

/** The steps in their order, and what is not kept. */
export interface LandingPlan {
  readonly steps: readonly Step[];
  readonly notKept: ExecLanded["notKept"];
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

/** How directories of the workspace are opened: where they are, no link followed. */
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const RIGHTS = 0o777;

class Planner {
  readonly #place: LandingPlace;
  readonly #upper: string;
  /** What the view holds: of a directory that it replaces everything else goes. */
  readonly #held: ReadonlySet<string>;
  /** What of it stands and is not dropped. */
  readonly #standing: Set<string>;
  readonly #steps: Step[] = [];
  readonly #notKept: { readonly path: string; readonly reason: NotKeptReason }[] = [];
  /** Directories whose contents are not kept either. */
  readonly #dropped = new Set<string>();
  /** Directories in which nothing of what lay there is left. */
  readonly #replaced = new Set<string>();
  readonly #whole = new Map<string, boolean | undefined>();
  /** Whether something is not kept that may have come from elsewhere in the workspace. */
  #mayHaveMoved = false;
  #parent: { readonly path: string; readonly descriptor: number } | undefined;

  constructor(place: LandingPlace, changes: readonly Change[]) {
    this.#place = place;
    this.#upper = `/proc/self/fd/${place.upper}`;
    this.#held = new Set(changes.map(({ path }) => path));
    this.#standing = new Set(changes.flatMap(({ path, kind }) => (kind === "gone" || kind === "special" ? [] : [path])));
  }

  plan(): LandingPlan {
    const held = this.#mayHaveMoved ? this.#steps.filter(removes) : [];
    const heldPaths = new Set(held.map(({ path }) => path));
    const isHeldBack = ({ path }: Step): boolean => heldPaths.has(path) || (path.includes("/") && isBelow(path, heldPaths));
    const backed = this.#mayHaveMoved ? held.filter(({ path }) => !isBelow(path, heldPaths)) : [];
    return {
      steps: held.length === 0 ? this.#steps : this.#steps.filter((step) => !isHeldBack(step)),
      notKept: [...this.#notKept, ...backed.map(({ path }) => ({ path, reason: "held_back" as const }))],
    };
  }

  close(): void {
    if (this.#parent !== undefined) closeSync(this.#parent.descriptor);
    this.#parent = undefined;
  }

  *add(change: Change): Generator<void> {
    const { path, kind } = change;
    const isDirectory = kind === "directory";
    if (this.#dropped.has(parentOf(path))) {
      if (isDirectory) this.#dropped.add(path);
      return;
    }
    const why = yield* this.#judged(change);
    if (why === undefined) return;
    this.#drop(path, why);
    if (isDirectory) this.#dropped.add(path);
    this.#mayHaveMoved ||= kind !== "gone" && kind !== "special";
  }

  *#judged({ path, kind, isReplaced, isCopy }: Change): Generator<void, NotKeptReason | undefined> {
    if (kind === "unnameable") return "unusable_name";
    if (kind === "special") return "not_a_file";
    const there = this.#thereAt(path);
    switch (kind) {
      case "gone":
        if (there !== undefined) yield* this.#remove(path, there);
        return undefined;
      case "directory":
        return yield* this.#directory({ path, isReplaced: isReplaced || this.#replaced.has(parentOf(path)), isCopy }, there);
      default:
        return yield* this.#file(path, kind, there);
    }
  }

  *#directory(
    { path, isReplaced, isCopy }: Pick<Change, "path" | "isReplaced" | "isCopy">,
    there: Standing | undefined,
  ): Generator<void, NotKeptReason | undefined> {
    const isAllowed = this.#allows(path, true);
    if (isReplaced) this.#replaced.add(path);
    if (there?.kind === "directory") {
      const { mode } = lstatSync(`${this.#upper}/${path}`);
      if (isAllowed && (there.mode & RIGHTS) !== (mode & RIGHTS)) this.#steps.push({ kind: "set_rights", path });
      if (isReplaced) yield* this.#clear(path);
      return undefined;
    }
    if (!isAllowed) return "not_allowed";
    if (there === undefined && isCopy) return "changed_meanwhile"; // somebody removed it: no command can move such a directory
    if (there !== undefined && this.#isChanged(there)) return "changed_meanwhile";
    this.#steps.push({ kind: "make_directory", path, ...(there && { replaces: true }) });
    return undefined;
  }

  *#file(path: string, kind: "file" | "link", there: Standing | undefined): Generator<void, NotKeptReason | undefined> {
    const isDirectory = there?.kind === "directory";
    if (there !== undefined && !isDirectory) {
      const parent = this.#openParent(parentOf(path));
      if (parent !== undefined && (yield* isSameFile(`${this.#upper}/${path}`, parent, nameOf(path)))) return undefined;
      if (there.kind === "other") return "changed_meanwhile";
    }
    if (!this.#allows(path, false) || (kind === "link" && !this.#allowsLink(path))) return "not_allowed";
    if (there !== undefined && !isDirectory && this.#isChanged(there)) return "changed_meanwhile";
    if (isDirectory) {
      const before = this.#notKept.length;
      yield* this.#remove(path, there);
      if (this.#notKept.length > before) return "changed_meanwhile";
    }
    const over = isDirectory ? { replaces: true as const } : there && { overwrites: true as const };
    this.#steps.push({ kind: kind === "file" ? "put_file" : "put_link", path, ...over });
    return undefined;
  }

  /** Plans to remove what stands there, as far as it may go. @returns whether all of it goes */
  *#remove(path: string, there: Standing): Generator<void, boolean> {
    const isDirectory = there.kind === "directory";
    const why = !this.#allows(path, isDirectory) ? "not_allowed" : !isDirectory && this.#isChanged(there) ? "changed_meanwhile" : undefined;
    if (why !== undefined) {
      this.#drop(path, why);
      return false;
    }
    if (isDirectory && !(yield* this.#clear(path))) return false;
    this.#steps.push({ kind: isDirectory ? "remove_directory" : "remove", path });
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
        if (this.#held.has(inside)) continue;
        const there = standingAt(directory, entry.toString());
        if (there === undefined) this.#drop(inside, "unusable_name");
        if (there === undefined || !(yield* this.#remove(inside, there))) isEmpty = false;
      }
    } finally {
      closeSync(directory);
    }
    return isEmpty;
  }

  #drop(path: string, reason: NotKeptReason): void {
    this.#notKept.push({ path, reason });
    this.#standing.delete(path);
  }

  #isChanged({ changedNs }: Standing): boolean {
    return changedNs >= this.#place.sinceNs;
  }

  /** Whether the call may make, change or remove what is named: all that lies in a directory that is one thing goes by that. */
  #allows(path: string, isDirectory: boolean): boolean {
    return this.#wholeAbove(parentOf(path)) ?? (this.#place.judge.entry(path, isDirectory) === "write" && !this.#shapes(path));
  }

  /** Within a directory that is one thing links are as good as files, as in `node_modules`. */
  #allowsLink(path: string): boolean {
    return this.#wholeAbove(parentOf(path)) ?? this.#place.judge.allowsLink?.(path) ?? true;
  }

  /** Whether it makes a look-alike repository with what else of the view lands; the judge knows what stands in the workspace. */
  #shapes(path: string): boolean {
    const directory = parentOf(path);
    return shapesRepository(nameOf(path), (name) => this.#standing.has(directory === "" ? name : `${directory}/${name}`));
  }

  #wholeAbove(directory: string): boolean | undefined {
    if (directory === "") return undefined;
    if (!this.#whole.has(directory)) {
      const { judge } = this.#place;
      const own = judge.isWhole(directory) ? judge.entry(directory, true) === "write" : undefined;
      this.#whole.set(directory, this.#wholeAbove(parentOf(directory)) ?? own);
    }
    return this.#whole.get(directory);
  }

  #thereAt(path: string): Standing | undefined {
    const parent = this.#openParent(parentOf(path));
    return parent === undefined ? undefined : standingAt(parent, nameOf(path));
  }

  /** The directory in the workspace, opened; `undefined` where there is none. */
  #openParent(path: string): number | undefined {
    if (this.#parent?.path === path) return this.#parent.descriptor;
    this.close();
    const descriptor = openBeneath(this.#place.root, path === "" ? "." : path, OPEN_DIRECTORY, "plain");
    if (descriptor < 0) return undefined;
    this.#parent = { path, descriptor };
    return descriptor;
  }
}

function removes({ kind, replaces }: Step): boolean {
  return kind === "remove" || kind === "remove_directory" || replaces === true;
}

/** Whether a directory above `path` is one of `paths`. */
function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let above = parentOf(path); above !== ""; above = parentOf(above)) if (paths.has(above)) return true;
  return false;
}
