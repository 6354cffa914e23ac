/**
 * Lands a plan: makes ready what is new, and then does the moves to the workspace, one after the other.
 *
 * INVARIANTS: every move names a file by its open parent directory and one name, so that no link leads elsewhere; what
 * changed since the plan was made is left alone; of two that make one name the first one has it; where something could
 * not be made, nothing is overwritten or removed any more; a landing that is cut short, or of which all was to land and
 * could not, is taken back.
 */
import { closeSync, constants, fstatSync, lstatSync } from "node:fs";
import { assert } from "../../base/errors.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { shapesRepository } from "../../model/place/repository-shape.ts";
import type { ExecLanded, NotKeptReason } from "../../model/work/exec.ts";
import type { ChangingPath } from "../keeping/keeping.ts";
import { errno, openBeneath } from "../native/syscalls.ts";
import type { CommandEffect } from "../plan/workspace-mounts.ts";
import type { Change } from "./changes.ts";
import { codeOf, isFull, MachineRefusal, saysFull } from "./machine/failures.ts";
import { dueOwner, givesByPlace } from "./machine/owners.ts";
import {
  type Aside,
  doMove,
  type Expected,
  type Ground,
  type Move,
  OPEN_DIRECTORY,
  undoMove,
  type Waiting,
} from "./moves.ts";
import { type LandingPlace, planLanding } from "./plan.ts";
import { CannotKeepOwner, CannotStage, Staging } from "./staging.ts";
import { nameOf, parentOf, pathIn, standingAt } from "./standing.ts";
import { growth, heldBack, overwrites, puts, type Step, takesAway } from "./steps.ts";

/** What a landing works with. */
export interface LandingWork extends LandingPlace {
  /** An open descriptor of a directory on the workspace's mount, for what waits, or is taken away. */
  readonly side: number;
  /** Whether the view lies on another mount than the workspace. */
  readonly isElsewhere: boolean;
  /** Where something of it may not land, nothing does. */
  readonly isWhole?: boolean;
  /** Nanoseconds of now, as the workspace's file system counts: whatever changed before has an earlier time. */
  readonly nowNs: () => bigint;
}

/** A move, and the step that it is for. */
interface Ready {
  readonly step: Step;
  readonly move: Move;
}

/** A landing that is planned and ready. */
export interface PreparedLanding {
  readonly ready: readonly Ready[];
  readonly notKept: ReadonlyMap<string, NotKeptReason>;
  /** Effects that land once a person agrees. */
  readonly asked: readonly CommandEffect[];
}

/** The same once nothing that waits is touched any more. */
export interface ReadyLanding extends PreparedLanding {
  /** Nanoseconds of a time at which all of it was ready, as the workspace's file system counts. */
  readonly readyNs: bigint;
}

/** What has landed, and whether it was all that could. */
export interface Landed extends ExecLanded {
  readonly isCut: boolean;
  /** Nothing has landed, because a person was asked and has not answered yet. */
  readonly isAwaited?: true;
}

/**
 * Plans the landing of `changes`, and makes ready what is new. The workspace is not changed.
 * @throws the machine's own error where it has no room
 */
export function* prepareLanding(
  work: LandingWork,
  changes: readonly Change[],
  signal?: AbortSignal,
): Generator<void, PreparedLanding> {
  const plan = yield* planLanding(work, changes);
  const notKept = new Map<string, NotKeptReason>(plan.notKept.map(({ path, reason }) => [path, reason]));
  if (work.isWhole === true && notKept.size > 0) return { ready: [], notKept, asked: [] };
  const steps = plan.stages.flat();
  if (work.isRefused !== true) {
    const entries = steps.reduce((sum, step) => sum + made(step), 0);
    const bytes = steps.reduce((sum, step) => sum + growth(step), 0);
    work.admit(entries, bytes);
  }
  const prefix = work.isRefused === true ? "again-" : "";
  const staging = new Staging(work, { isElsewhere: work.isElsewhere, prefix, signal });
  const chosen = new Chosen(notKept);
  const ready: Ready[] = [];
  for (const step of steps) {
    if (signal?.aborted === true) break;
    if (chosen.isHeld(step)) continue;
    const move = yield* readied(work, staging, step);
    if (typeof move === "string") chosen.fail(step, move);
    else ready.push({ step, move });
    yield;
  }
  if (work.isWhole === true && chosen.hasFailed) return { ready: [], notKept: chosen.end(), asked: [] };
  return { ready, notKept: chosen.end(), asked: plan.asked };
}

/** What the moves of a landing will change, as it can be noted while nothing is moved. */
export function* changingPaths(
  work: Pick<LandingWork, "root" | "upper" | "side">,
  ready: PreparedLanding["ready"],
): Generator<ChangingPath> {
  for (const { step, move } of ready) {
    const { path, over, tree } = step;
    const before = over === undefined ? {} : { before: { directory: work.root, path } };
    if (step.kind === "set_rights") {
      const [, mode = 0] = move.rights ?? [];
      yield { path, ...before, after: { state: { kind: "directory", mode } } };
    } else if (!puts(step)) yield { path, ...before };
    else {
      const directory = work[move.aside.in];
      yield { path, ...before, after: { directory, path: move.aside.path } };
      for (const one of tree?.kept ?? [])
        yield { path: one.path, after: { directory, path: move.aside.path + one.path.slice(path.length) } };
    }
  }
}

/** Paths of a landing that were not changed after all. @param notKept as `Landed` names them */
export function unchangedPaths(ready: PreparedLanding["ready"], notKept: Landed["notKept"]): ReadonlySet<string> {
  const names = new Set(notKept.map(({ path }) => path));
  const left = ready.filter(({ step }) => names.has(step.path)).map(({ step }) => step);
  return new Set(left.flatMap(({ path, tree }) => [path, ...(tree?.kept ?? []).map((one) => one.path)]));
}

/**
 * Does the moves of a landing.
 * @throws ToolFailure OUTCOME_UNKNOWN where it had to be taken back and could not; whatever else ended it, once all is
 * taken back
 */
export function* applyLanding(
  work: LandingWork,
  { ready, notKept, readyNs }: ReadyLanding,
  signal?: AbortSignal,
): Generator<void, Landed> {
  const landing = new Landing(work, readyNs);
  const chosen = new Chosen(notKept);
  const isCut = () => signal?.aborted === true;
  const isOver = () => isCut() || (work.isWhole === true && chosen.hasFailed);
  try {
    for (const one of ready) {
      if (isOver()) break;
      if (chosen.isHeld(one.step)) continue;
      const reason = yield* landing.does(one);
      if (reason !== undefined) chosen.fail(one.step, reason);
      yield;
    }
  } catch (error) {
    yield* landing.takeBack();
    throw error;
  }
  const kept = chosen.end();
  const wasCut = isCut();
  if (isOver()) yield* landing.takeBack();
  const named = [...kept].map(([path, reason]) => ({ path, reason }));
  return { ...landing.counts, isCut: wasCut, notKept: named.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

/** Names that the step makes. */
function made(step: Step): number {
  return puts(step) && !overwrites(step) ? 1 + (step.tree?.kept.length ?? 0) : 0;
}

/** Which steps are still done: once something could not be made, nothing is taken away any more. */
class Chosen {
  readonly #notKept: Map<string, NotKeptReason>;
  readonly #held: Step[] = [];
  #isWhole = true;
  hasFailed = false;

  constructor(notKept: ReadonlyMap<string, NotKeptReason>) {
    this.#notKept = new Map(notKept);
  }

  isHeld(step: Step): boolean {
    if (this.#isWhole || !takesAway(step)) return false;
    this.#held.push(step);
    return true;
  }

  fail(step: Step, reason: NotKeptReason): void {
    if (!this.#notKept.has(step.path)) this.#notKept.set(step.path, reason);
    if (puts(step)) this.#isWhole = false;
    this.hasFailed = true;
  }

  end(): ReadonlyMap<string, NotKeptReason> {
    for (const { path, reason } of heldBack(this.#held)) if (!this.#notKept.has(path)) this.#notKept.set(path, reason);
    return this.#notKept;
  }
}

const SET_GROUP = 0o2000;
const RIGHTS = 0o1777;
/** What the owner of a directory keeps: one that is closed to its owner is closed to whoever looks after it. */
const OWNER = constants.S_IRWXU;

/** The move of a step, with what it puts made ready; or why it cannot be done. */
function* readied(work: LandingWork, staging: Staging, step: Step): Generator<void, Move | NotKeptReason> {
  const { path, over } = step;
  const parent = openBeneath(work.root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return "changed_meanwhile";
  const old = over === undefined ? {} : { old: over.inode };
  try {
    if (!puts(step)) return moveAway(work, staging, step);
    const { mode, gid } = fstatSync(parent);
    const kind = step.kind === "put_tree" ? "directory" : step.kind === "put_link" ? "link" : "file";
    const beside = {
      group: (mode & SET_GROUP) === 0 ? undefined : gid,
      due: givesByPlace() ? dueOwner(parent, nameOf(path), kind) : undefined,
      over: over?.kind === "file" ? pathIn(parent, nameOf(path)) : undefined,
    };
    const aside = yield* staging.ready(step, beside);
    const own = waitingAt(work, aside);
    return { kind: over === undefined ? "put" : "swap", path, aside, own, ...old };
  } catch (error) {
    if (isFull(error)) throw error; // and so it is for all that comes after it
    if (error instanceof CannotKeepOwner) return "owner_not_kept";
    // Each step stands for itself: what else the machine refuses keeps no other from landing.
    if (error instanceof CannotStage || (error instanceof Error && "code" in error)) return "failed";
    throw error;
  } finally {
    closeSync(parent);
  }
}

function waitingAt(work: LandingWork, aside: Aside): Waiting {
  const found = standingAt(work[aside.in], aside.path);
  assert(found, "what was made ready is there");
  const { inode, bytes, writtenNs, kind } = found;
  return { inode, bytes, writtenNs: String(writtenNs), isDirectory: kind === "directory" };
}

function moveAway(work: LandingWork, staging: Staging, { kind, path, over }: Step): Move {
  const [old, mode] = [over?.inode ?? 0, over?.mode ?? 0];
  if (kind === "set_rights") {
    const wanted = lstatSync(`/proc/self/fd/${work.upper}/${path}`).mode & RIGHTS;
    const rights = [mode & 0o7777, wanted | OWNER | (mode & SET_GROUP)] as const;
    return { kind: "rights", path, aside: { in: "side", path: "" }, old, rights };
  }
  const isClosed = over?.kind === "directory" && (mode & OWNER) !== OWNER;
  const opened = isClosed ? { rights: [mode & 0o7777, (mode & 0o7777) | OWNER] as const } : {};
  return { kind: "take", path, aside: staging.next(), old, ...opened };
}

class Landing {
  readonly #work: LandingWork & Ground;
  #counts = { created: 0, changed: 0, removed: 0 };
  /** Files with several names of which this landing took one away, which is a change of the others. */
  readonly #touched = new Set<number>();
  readonly #done: Move[] = [];
  readonly #readyNs: bigint;

  constructor(work: LandingWork, readyNs: bigint) {
    this.#work = work;
    this.#readyNs = readyNs;
  }

  get counts(): Readonly<Record<"created" | "changed" | "removed", number>> {
    return this.#counts;
  }

  /** Does one move. @returns why it was not done, where it was not */
  *does({ step, move }: Ready): Generator<void, NotKeptReason | undefined> {
    // Each step goes there anew: somebody may have moved the directory, even out of the workspace.
    const parent = openBeneath(this.#work.root, parentOf(step.path) || ".", OPEN_DIRECTORY, "plain");
    if (parent < 0) return "changed_meanwhile";
    try {
      const isGone = isRemoval(step.kind) && standingAt(parent, nameOf(step.path)) === undefined;
      if (isGone) return undefined; // somebody else removed it, too
      if (fstatSync(parent).ino !== step.parent || this.#isChanged(parent, step)) return "changed_meanwhile";
      const result = doMove({ ground: this.#work, parent, expected: expectedOf(step) }, move);
      if (saysFull(result)) throw new MachineRefusal("a name could not be changed", result);
      if (result < 0) return reasonOf(result);
      if (this.#shapes(parent, step)) {
        // Another landing made the rest of a repository meanwhile; of two that look afterwards one at least sees the
        // other.
        const isUndone = yield* undoMove(this.#work, move, this.#readyNs);
        return isUndone ? "not_allowed" : "changed_meanwhile";
      }
      this.#done.push(move);
      this.#count(step);
      return undefined;
    } finally {
      closeSync(parent);
    }
  }

  /** @throws ToolFailure OUTCOME_UNKNOWN where somebody has changed meanwhile what landed */
  *takeBack(): Generator<void> {
    const left: string[] = [];
    for (const move of this.#done.reverse()) {
      if (!(yield* this.#undo(move))) left.push(move.path);
      yield;
    }
    this.#counts = { created: 0, changed: 0, removed: 0 };
    if (left.length > 0) throw interrupted(left);
  }

  /** What the machine does not let be taken back is left where it is, and said to be. */
  *#undo(move: Move): Generator<void, boolean> {
    try {
      return yield* undoMove(this.#work, move, this.#readyNs);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return false;
    }
  }

  #shapes(parent: number, { path, mayShape }: Step): boolean {
    return mayShape === true && shapesRepository(nameOf(path), (beside) => standingAt(parent, beside) !== undefined);
  }

  /** Whether somebody was quicker since the plan was made. A directory changes by what is done in it. */
  #isChanged(parent: number, { kind, path, over }: Step): boolean {
    if (kind === "set_rights" || over === undefined) return false;
    const there = standingAt(parent, nameOf(path));
    if (there?.inode !== over.inode) return true;
    if (over.kind === "directory") return false;
    if (there.changedNs >= this.#work.sinceNs && !this.#touched.has(over.inode)) return true;
    if (there.names > 1) this.#touched.add(over.inode);
    return false;
  }

  #count(step: Step): void {
    if (puts(step) && !overwrites(step)) this.#counts.created += made(step);
    else this.#counts[isRemoval(step.kind) ? "removed" : "changed"] += 1;
  }
}

function isRemoval(kind: Step["kind"]): boolean {
  return kind === "remove" || kind === "remove_directory";
}

/** What a move finds where something is taken away. A directory that is replaced as a whole goes with what is in it. */
function expectedOf({ kind, over }: Step): Expected | undefined {
  if (over === undefined || kind === "set_rights") return undefined;
  return { over, isEmpty: kind !== "put_tree" };
}

function reasonOf(result: number): NotKeptReason {
  const isOthers = [errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOENT, errno.ENOTDIR].includes(-result);
  return isOthers ? "changed_meanwhile" : "failed";
}

function interrupted(paths: readonly string[]): ToolFailure {
  const shown = paths.slice(0, 3).map((path) => `\`${path.slice(0, 100)}\``);
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : "";
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    `what the command changed was taken back, but for what somebody else has changed meanwhile (${shown.join(", ")}${more})`,
    "look at those files before going on",
  );
}
