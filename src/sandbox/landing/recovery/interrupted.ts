/**
 * Landings that stopped halfway and could not be taken back, because somebody had gone on with what had landed.
 *
 * Both sides of each are kept. A person looks at them, does the rest, or drops what is kept. INVARIANT: nothing is done
 * where a name is not as the landing found it, and what stood there is moved to what is kept, never removed.
 */
import { closeSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../files/remove-tree.ts";
import { LANDING_JOURNAL, viewPlaces } from "../../layers/view-directories.ts";
import { openBeneath } from "../../native/syscalls.ts";
import { atOnce } from "../../plan/workspace-mounts.ts";
import { INTERRUPTED, type LandingJournal, onGround, readJournal } from "../journal.ts";
import { releaseLocks, takeLocks } from "../lock-files.ts";
import { doMove, type Ground, isAsLeft, isDone, isUntouchedInside, type Move, OPEN_DIRECTORY } from "../moves.ts";
import { nameOf, parentOf, standingAt } from "../standing.ts";

/** One change of a name that a landing was to make. */
export interface InterruptedMove {
  /** In the workspace. */
  readonly path: string;
  /** `landed`; `waiting` where it can be done yet; `changed` where somebody has changed what stands there. */
  readonly state: "landed" | "waiting" | "changed";
}

/** A landing of which both sides are kept. */
export interface InterruptedLanding {
  /** `interrupted-…`. */
  readonly name: string;
  /** The directory with `upper` (what the command wrote) and `side` (what stood there before), absolute. */
  readonly path: string;
  /** The workspace, absolute. */
  readonly root: string;
  readonly moves: readonly InterruptedMove[];
  /** Why the rest cannot be done. */
  readonly closed?: "gone" | "elsewhere";
}

/**
 * All that are kept where views lie.
 * @param wanted as `viewPlaces` takes it
 * @param report told of each whose journal cannot be read
 */
export function interruptedLandings(
  wanted: string | undefined,
  report: (path: string, error: unknown) => void,
): readonly InterruptedLanding[] {
  const found: InterruptedLanding[] = [];
  for (const place of viewPlaces(wanted).filter((one) => existsSync(one)))
    for (const name of readdirSync(place)
      .filter((one) => one.startsWith(INTERRUPTED))
      .sort()) {
      const path = join(place, name);
      try {
        const journal = readJournal(path);
        if (journal === undefined) throw new Error(`there is no whole \`${LANDING_JOURNAL}\``);
        found.push({ name, path, root: journal.root.path, ...standOf(path, journal) });
      } catch (error) {
        report(path, error);
      }
    }
  return found;
}

/** What came of doing the rest. */
export interface Continued {
  readonly landed: readonly string[];
  /** What somebody has changed, or the machine refused. */
  readonly left: readonly string[];
  /** Somebody holds a lock file of the workspace, such as git's; nothing was done. */
  readonly isLocked?: true;
}

/** Does the rest of a landing. @throws an error where its workspace is gone, or lies on another file system */
export function continueLanding({ path, closed }: InterruptedLanding): Continued {
  const journal = readJournal(path);
  const done =
    journal === undefined || closed !== undefined
      ? undefined
      : onGround(path, journal, (ground) => doRest(ground, journal));
  if (done === undefined) throw new Error("the rest of this landing cannot be done any more");
  return done;
}

/** Removes both sides. The workspace stays as it is. */
export async function dropLanding({ path }: Pick<InterruptedLanding, "path">): Promise<void> {
  await removeTree(path);
}

function doRest(ground: Ground, { moves, locks, mark, readyNs }: LandingJournal): Continued {
  if (!takeLocks(ground.root, locks, mark)) return { landed: [], left: [], isLocked: true };
  try {
    const [landed, left]: [string[], string[]] = [[], []];
    for (const one of moves) {
      const state = stateOf(ground, one, BigInt(readyNs));
      if (state === "waiting") (isMade(ground, one) ? landed : left).push(one.path);
      else if (state === "changed") left.push(one.path);
    }
    return { landed, left };
  } finally {
    releaseLocks(ground.root, locks, mark);
  }
}

function isMade(ground: Ground, one: Move): boolean {
  return inParent(ground, one, (parent) => doMove({ ground, parent }, one) >= 0) ?? false;
}

function inParent<Result>(ground: Ground, { path }: Move, work: (parent: number) => Result): Result | undefined {
  const parent = openBeneath(ground.root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return undefined;
  try {
    return work(parent);
  } finally {
    closeSync(parent);
  }
}

function standOf(path: string, journal: LandingJournal): Pick<InterruptedLanding, "moves" | "closed"> {
  const all = (state: InterruptedMove["state"]) => journal.moves.map((one) => ({ path: one.path, state }));
  // what waited beside the workspace is a copy now, which nothing tells from what was taken
  if (journal.side !== undefined) return { moves: all("changed"), closed: "elsewhere" };
  const at = BigInt(journal.readyNs);
  const moves = onGround(path, journal, (ground) =>
    journal.moves.map((one) => ({ path: one.path, state: stateOf(ground, one, at) })),
  );
  return moves === undefined ? { moves: all("changed"), closed: "gone" } : { moves };
}

function stateOf(ground: Ground, one: Move, readyNs: bigint): InterruptedMove["state"] {
  if (isDone(ground, one)) return "landed";
  if (!atOnce(isAsLeft(ground, one, readyNs))) return "changed";
  const name = nameOf(one.path);
  const isThereToo = inParent(ground, one, (parent) => {
    const there = standingAt(parent, name);
    if (one.kind === "rights") return (there?.mode ?? 0) % 0o10000 === one.rights?.[1];
    return there?.kind !== "directory" || atOnce(isUntouchedInside({ directory: parent, name }, readyNs));
  });
  if (one.kind === "rights") return isThereToo === true ? "landed" : "waiting";
  return isThereToo === true || one.kind === "put" ? "waiting" : "changed";
}
