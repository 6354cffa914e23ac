/**
 * Gives each command a copy-on-write view of its workspace.
 *
 * A command writes into its view. When it has ended, what it changed lands, as far as the call may change it.
 *
 * INVARIANT: a command of one view never sees what another one writes, and the workspace is never written by a command
 * itself.
 */
import { chmodSync, closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { MIB } from "../../base/bytes.ts";
import { assert } from "../../base/errors.ts";
import { inSlices } from "../../base/long-steps.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { NewFiles } from "../files/new-files.ts";
import { type SizeWatch, watchSize } from "../files/places/size-watch.ts";
import type { Identity } from "../identity/identity.ts";
import { mergedIn } from "../layers/overlay.ts";
import type { ViewDirectories, ViewDirectory } from "../layers/view-directories.ts";
import { O_PATH, openBeneath } from "../native/syscalls.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import { type AsideDirectory, openAside } from "./aside.ts";
import { type Change, changesIn } from "./changes.ts";
import { type ReviewedEffect, reviewedEffects } from "./effects.ts";
import { endJournal, keepInterrupted, type LandingJournal, writeJournal } from "./journal.ts";
import { applyLanding, type Landed, type LandingWork, type PreparedLanding, prepareLanding } from "./landing.ts";
import type { LandingPlace } from "./landing-plan.ts";
import { releaseLocks, takeLocks } from "./lock-files.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import { nameOf, parentOf, pathIn, standingAt } from "./standing.ts";

/**
 * Times that a stamp is written until the clock of its file system has gone on: some microseconds each, a tick of 10 ms
 * at most.
 */
const VIEW_TICK_LOOKS_MAX = 10_000;

/**
 * Files and directories of a workspace beyond which commands make no new ones. It is far from what is too large to be
 * looked at: people and file tools make files, too, and other kernels count what they land by themselves.
 */
export const ENTRIES_LANDED_MAX = 900_000;
/** Bytes of a path that the machine takes. */
const PATH_BYTES_MAX = 4096;
/** Bytes that are left for what a kernel puts behind a path of the workspace. */
const PATH_BYTES_LEFT = 320;
/** Milliseconds by which the time of a change may lie behind the machine's: one tick. */
const TICK_MS = 10;
/** Waits for a tick; timers may be early by a little. */
const WAITS_MAX = 3;

/** Bytes of each side of a file that a person is shown; larger ones are named with their digests. */
const REVIEWED_BYTES_MAX = MIB;

const NOTHING: Landed = { created: 0, changed: 0, removed: 0, notKept: [], isCut: false };

/** Counts what landings have made, all of a kernel's together. */
export interface LandedCount {
  made: number;
}

/** Where a view is made, and of what. */
export interface ViewPlace {
  readonly directories: ViewDirectories;
  readonly identity: Identity;
  /** The workspace on the machine, a real path. */
  readonly root: string;
  /** What the views of this kernel land. */
  readonly counted: LandedCount;
}

/** What may land, and how. */
export interface LandingTerms {
  readonly judge: ScopeJudge;
  readonly newFiles: NewFiles;
  /** Where something of it may not land, nothing does. */
  readonly isWhole?: boolean;
  /** Files that have to be as they were when the view began, with their text but for a line's end. */
  readonly unchanged?: readonly { readonly path: string; readonly text: string }[] | undefined;
  /** The file by which other programs lock one that lands, where they do. */
  readonly lockOf?: ((path: string) => string | undefined) | undefined;
  /** Asks a person about effects that land once somebody agrees; without it they do not land. */
  readonly review?: Review | undefined;
}

/**
 * Asks a person. `refused`: what was asked about does not land; `later`: nothing does, because somebody may still agree
 * to the same.
 */
export type Review = (effects: readonly ReviewedEffect[]) => Promise<"agreed" | "refused" | "later">;

/** The view of one run. */
export class View {
  readonly #directory: ViewDirectory;
  readonly #counted: LandedCount;
  readonly #root: number;
  readonly #rootPath: string;
  #sinceNs: bigint | undefined;
  #known: LandingPlace["known"] = () => undefined;
  #room = 0;
  #isKept = false;
  /** The identity that sees it. */
  readonly identity: Identity;

  /**
   * @throws ToolFailure SANDBOX_UNAVAILABLE when there is no place for it
   */
  constructor({ directories, identity, root, counted }: ViewPlace) {
    this.#counted = counted;
    const { views } = identity;
    assert(views, "a run that nothing contains has no view");
    this.#directory = directories.make(views.owner);
    const directory = `${views.path}/${this.#directory.name}`;
    this.identity = { ...identity, source: mergedIn(directory), layers: { directory, workspace: identity.source } };
    this.#rootPath = root;
    this.#root = openSync(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  }

  /**
   * Notes the time from which on changes of the workspace are somebody else's. To be called right before the run
   * begins.
   * @param known the directories of the workspace, as they are looked at from now on
   * @param entries files and directories that it holds
   */
  async begin(known: LandingPlace["known"], entries: number): Promise<void> {
    this.#room = ENTRIES_LANDED_MAX - entries + this.#counted.made;
    const isSame = statSync(this.#rootPath).dev === statSync(this.#directory.path).dev;
    this.#sinceNs = isSame ? timeOf(this.#directory.path) : await nextTick();
    this.#known = known;
  }

  /** Bounds what the run writes, from now on: `signal` ends it when it is more than `bytesMax`. */
  async watch(bytesMax: number): Promise<SizeWatch & { readonly signal: AbortSignal }> {
    const stopping = new AbortController();
    const upper = openSync(join(this.#directory.path, "upper"), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const bound = { bytesMax, onExceeded: () => stopping.abort() };
    const watch = await watchSize({ descriptor: upper }, ".", bound);
    const end = () => watch.end().finally(() => closeSync(upper));
    return { signal: stopping.signal, end };
  }

  /**
   * Lands what the run has changed. Nothing of it may be left that writes.
   * @param signal takes all of it back
   * @throws ToolFailure OUTPUT_LIMIT when that is too much, OUTCOME_UNKNOWN when it could not be taken back
   */
  async land(rules: LandingTerms, signal: AbortSignal): Promise<Landed> {
    if (this.#sinceNs === undefined) return NOTHING;
    const path = join(this.#directory.path, "upper");
    chmodSync(path, 0o700); // the command may have closed the workspace, as it sees it, to its owner
    const upper = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const pathBytesMax = PATH_BYTES_MAX - PATH_BYTES_LEFT - Buffer.byteLength(this.#rootPath);
      const { result: changes } = await inSlices(
        "listing what a command changed",
        changesIn({ upper: `/proc/self/fd/${upper}`, pathBytesMax }),
      );
      return changes.length === 0 ? NOTHING : await this.#landFrom({ upper, changes }, rules, signal);
    } finally {
      closeSync(upper);
    }
  }

  async #landFrom(
    { upper, changes }: { readonly upper: number; readonly changes: readonly Change[] },
    { judge, newFiles, isWhole = false, review, lockOf, unchanged = [] }: LandingTerms,
    signal: AbortSignal,
  ): Promise<Landed> {
    assert(this.#sinceNs !== undefined, "a view lands after it began");
    const aside = openAside(this.#root, upper, { view: this.#directory.path, newFiles });
    const work: LandingWork = {
      root: this.#root,
      upper,
      judge,
      isWhole,
      side: aside.descriptor,
      isElsewhere: aside.isElsewhere,
      sinceNs: this.#sinceNs,
      known: this.#known,
      admit: (made: number) => this.#admit(made),
      nowNs: () => timeOf(aside.path),
    };
    try {
      const prepared = await reviewed(work, changes, { review, signal });
      if (prepared === undefined) return { ...NOTHING, isAwaited: true };
      if (prepared.ready.length === 0 || signal.aborted)
        return (await inSlices("landing nothing", applyLanding(work, prepared, signal))).result;
      const locked = [...unchanged, ...prepared.ready.map(({ move }) => move)];
      const locks = [...new Set(locked.flatMap(({ path }) => lockOf?.(path) ?? []))];
      const mark = `held while ${this.#directory.name} lands\n`;
      await this.#note(prepared, { aside, locks, mark });
      const end = () => {
        aside.release();
        endJournal(this.#directory.path);
      };
      if (!takeLocks(this.#root, locks, mark)) return lockedOut(locks, end);
      try {
        const others = unchanged.filter((one) => !isUnchanged(work, one)).map(({ path }) => path);
        if (others.length > 0) return lockedOut(others, end);
        const { result } = await inSlices("landing what a command changed", applyLanding(work, prepared, signal));
        end();
        return result;
      } finally {
        releaseLocks(this.#root, locks, mark);
      }
    } catch (error) {
      throw isInterrupted(error) ? keptIn(this.#keep(aside), error) : error;
    } finally {
      await aside.dispose();
    }
  }

  #keep({ isElsewhere, path }: AsideDirectory): string {
    this.#isKept = true;
    return keepInterrupted(this.#directory.path, isElsewhere ? path : undefined);
  }

  async #note(
    { ready, readyNs }: PreparedLanding,
    { aside, ...locking }: Pick<LandingJournal, "locks" | "mark"> & { aside: AsideDirectory },
  ): Promise<void> {
    const { isElsewhere, path } = aside;
    const { dev, ino } = fstatSync(this.#root, { bigint: true });
    const root = { path: this.#rootPath, device: String(dev), inode: String(ino) };
    const side = isElsewhere ? { side: path } : {};
    aside.hold();
    await writeJournal(this.#directory.path, {
      root,
      ...side,
      ...locking,
      readyNs: String(readyNs),
      moves: ready.map(({ move }) => move),
    });
  }

  /** Leaves room in the workspace for the looks of later commands, also where others land at the same time. */
  #admit(made: number): void {
    if (made > 0 && this.#counted.made + made > this.#room) throw full();
    this.#counted.made += made;
  }

  /** Removes it, in the background. */
  dispose(): void {
    closeSync(this.#root);
    if (!this.#isKept) this.#directory.dispose();
  }
}

/** Whether a file says what it said when the view began, and nobody has changed it since. */
function isUnchanged({ root, sinceNs }: LandingWork, { path, text }: { readonly path: string; readonly text: string }) {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return false;
  try {
    const there = standingAt(parent, nameOf(path));
    if (there?.kind !== "file" || there.changedNs >= sinceNs || there.bytes > text.length + 1) return false;
    return readFileSync(pathIn(parent, nameOf(path)), "utf8").trimEnd() === text;
  } finally {
    closeSync(parent);
  }
}

/** Somebody holds a lock, or has changed what has to be as it was: nothing lands. */
function lockedOut(paths: readonly string[], end: () => void): Landed {
  end();
  return { ...NOTHING, notKept: paths.map((path) => ({ path, reason: "changed_meanwhile" })) };
}

/** The landing, once it is known what a person says of it; `undefined` where that is not known yet. */
async function reviewed(
  work: LandingWork,
  changes: readonly Change[],
  { review, signal }: { readonly review: Review | undefined; readonly signal: AbortSignal },
): Promise<PreparedLanding | undefined> {
  const prepare = async (isRefused: boolean) => {
    const steps = prepareLanding({ ...work, isRefused }, changes, signal);
    return (await inSlices("preparing what a command changed", steps)).result;
  };
  const prepared = await prepare(false);
  if (prepared.asked.length === 0 || signal.aborted) return prepared;
  const effects = await inSlices(
    "reading what a person is asked about",
    reviewedEffects(work, prepared.asked, REVIEWED_BYTES_MAX),
  );
  const answer = (await review?.(effects.result)) ?? "refused";
  if (answer === "later") return undefined;
  return answer === "agreed" ? prepared : await prepare(true);
}

/** The operator is told where, as of every cause. */
function keptIn(path: string, { code, message, suggestion = "" }: ToolFailure): ToolFailure {
  const cause = new Error(`a landing could be taken back only in part: both sides are kept in \`${path}\``);
  return new ToolFailure(code, message, { suggestion, cause });
}

function isInterrupted(error: unknown): error is ToolFailure {
  return error instanceof ToolFailure && error.code === "OUTCOME_UNKNOWN";
}

function full(): ToolFailure {
  return new ToolFailure(
    "OUTPUT_LIMIT",
    `the workspace would hold more than ${ENTRIES_LANDED_MAX} files; nothing of what the command changed was kept`,
    "let it write less, or below /tmp, which is the command's own",
  );
}

/** Nanoseconds of now as the file system counts: whatever changed before has an earlier time. */
function timeOf(directory: string): bigint {
  const stamp = join(directory, "stamp");
  const touched = (): bigint => {
    writeFileSync(stamp, "");
    return statSync(stamp, { bigint: true }).ctimeNs;
  };
  const first = touched();
  let now = touched();
  for (let looks = 0; now === first && looks < VIEW_TICK_LOOKS_MAX; looks += 1) now = touched();
  return now;
}

/**
 * The same for a file system in which nothing may be written: one tick later, so that what changes from then on has
 * that time or a later one.
 */
async function nextTick(): Promise<bigint> {
  const nowMs = Date.now() + 1;
  for (let waits = 0; waits < WAITS_MAX && Date.now() < nowMs + TICK_MS; waits += 1) await setTimeout(TICK_MS + 1);
  return BigInt(nowMs) * 1_000_000n;
}
