/**
 * Takes the changes of a view through all steps of a landing: prepared, asked about, noted on disk, locked, moved.
 *
 * INVARIANTS: nothing is moved before it and its journal are on disk, and nothing once what has to be as it was is not;
 * what is said to have landed is on disk.
 */
import { closeSync, constants, fstatSync, readFileSync } from "node:fs";
import { MIB } from "../../base/bytes.ts";
import { inSlices } from "../../base/long-steps.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { LandedEffect } from "../../model/work/exec.ts";
import type { NotedChanges } from "../../model/work/file-history.ts";
import type { NewFiles } from "../files/new-files.ts";
import { type Keeping, keptChanges } from "../keeping/keeping.ts";
import { passOn } from "../mirror/running-views.ts";
import { openBeneath } from "../native/syscalls.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import { type AsideDirectory, openAside } from "./aside.ts";
import type { Change } from "./changes.ts";
import {
  landingEffects,
  type ReviewedEffect,
  recordedEffects,
  reviewedEffects,
  type SideOpener,
  sideOpener,
} from "./effects.ts";
import { timeOf } from "./file-clock.ts";
import { endJournal, keepInterrupted, writeJournal } from "./journal.ts";
import {
  applyLanding,
  changingPaths,
  type Landed,
  type LandingWork,
  type PreparedLanding,
  prepareLanding,
  unchangedPaths,
} from "./landing.ts";
import { releaseLocks, takeLocks } from "./lock-files.ts";
import { type Below, settled, syncContents, syncNames } from "./machine/durability.ts";
import { nothingLanded } from "./machine/failures.ts";
import { OPEN_DIRECTORY } from "./moves.ts";
import type { LandingPlace } from "./plan.ts";
import { nameOf, parentOf, pathIn, standingAt } from "./standing.ts";

/** Bytes of each side of a file that a person is shown; larger ones are named with their digests. */
const REVIEWED_BYTES_MAX = MIB;

/** What has landed of a view in which nothing changed. */
export const NOTHING: Landed = { created: 0, changed: 0, removed: 0, notKept: [], isCut: false };

/** What may land, and how. */
export interface LandingTerms {
  readonly judge: ScopeJudge;
  readonly newFiles: NewFiles;
  /** Keeps what stood there before; nothing is kept when absent. */
  readonly keeping?: Keeping | undefined;
  /** Where something of it may not land, nothing does. */
  readonly isWhole?: boolean;
  /** Files that have to be as they were when the view began, with their text but for a line's end. */
  readonly unchanged?: readonly { readonly path: string; readonly text: string }[] | undefined;
  /** What else has to stand, and who is told that all has landed; both while the locks are held. */
  readonly ground?: { readonly stands: () => boolean; readonly landed: () => void } | undefined;
  /** Told of everything that has landed. */
  readonly onLanded?: ((effects: readonly LandedEffect[]) => void) | undefined;
  /** The file by which other programs lock one that lands, where they do. */
  readonly lockOf?: ((path: string) => string | undefined) | undefined;
  /** Asks a person about effects that land once somebody agrees; without it they do not land. */
  readonly review?: Review | undefined;
}

/**
 * Asks a person. `refused`: what was asked about does not land; `later`: nothing does, because somebody may still agree
 * to the same.
 */
export type Review = (
  effects: readonly ReviewedEffect[],
  /** Opens what they are about, until the answer is there. */
  open: SideOpener,
) => Promise<"agreed" | "refused" | "later">;

/** A view whose run has ended. */
export interface EndedView extends Pick<LandingPlace, "root" | "upper" | "sinceNs" | "known" | "admit"> {
  readonly directory: string;
  /** The workspace, a real path. */
  readonly rootPath: string;
  /** Says that its directory is kept. */
  readonly keep: () => void;
}

/** What lands. */
export interface ViewChanges {
  readonly view: EndedView;
  readonly changes: readonly Change[];
}

/**
 * Lands the changes.
 * @param signal takes all of it back
 * @throws ToolFailure OUTPUT_LIMIT when that is too much, OUTCOME_UNKNOWN when it could not be taken back;
 * FailureWithoutEffect where the machine refused it, such as DISK_FULL, and nothing has landed
 */
export async function landView(
  { view, changes }: ViewChanges,
  { judge, newFiles, isWhole = false, review, ...conditions }: LandingTerms,
  signal: AbortSignal,
): Promise<Landed> {
  const { directory, rootPath: _named, keep, ...place } = view;
  const aside = opened(() => openAside(view.root, view.upper, { view: directory, newFiles }));
  const { descriptor: side, isElsewhere, path } = aside;
  let isKept = false;
  let hasMoved = false;
  const work: LandingWork = { ...place, judge, isWhole, side, isElsewhere, nowNs: () => timeOf(path) };
  try {
    const prepared = await reviewed(work, changes, { review, signal });
    if (prepared === undefined) return { ...NOTHING, isAwaited: true };
    if (prepared.ready.length > 0 && !signal.aborted)
      return await landPrepared({ view, work, aside, prepared, onMoved: () => (hasMoved = true) }, conditions, signal);
    return (await inSlices("landing nothing", applyLanding(work, { ...prepared, readyNs: 0n }, signal))).result;
  } catch (error) {
    if (hasMoved) throw error;
    if (!isInterrupted(error)) throw nothingLanded(error);
    keep();
    isKept = isElsewhere;
    const kept = keepInterrupted(directory, isElsewhere ? path : undefined);
    isKept = false;
    throw keptIn(kept, error);
  } finally {
    await aside.dispose(isKept); // what was taken is nowhere else where it could not be copied
  }
}

function opened(open: () => AsideDirectory): AsideDirectory {
  try {
    return open();
  } catch (error) {
    throw nothingLanded(error);
  }
}

/** A landing whose moves are known. */
interface ReadyLanding {
  readonly view: EndedView;
  readonly work: LandingWork;
  readonly aside: AsideDirectory;
  readonly prepared: PreparedLanding;
  /** Told once all moves are done: from then on what has landed stays. */
  readonly onMoved: () => void;
}

/** What has to hold while it lands, and who is told. */
type Conditions = Pick<LandingTerms, "lockOf" | "unchanged" | "ground" | "onLanded">;

async function landPrepared(
  { view, work, aside, prepared, onMoved }: ReadyLanding,
  { keeping, ...conditions }: Conditions & Pick<LandingTerms, "keeping">,
  signal: AbortSignal,
): Promise<Landed> {
  const noted = await noteLanding(keeping, work, prepared);
  const landed = await landNoted({ view, work, aside, prepared, onMoved }, conditions, signal);
  const hasLanded = landed.created + landed.changed + landed.removed > 0;
  const unmade = unchangedPaths(prepared.ready, landed.notKept);
  const isMade = unmade.size === 0 ? undefined : (path: string) => !unmade.has(path);
  await (hasLanded ? noted?.made(isMade) : noted?.forget());
  if (hasLanded) {
    const paths = namesOf(prepared.ready).filter((path) => !unmade.has(path));
    await passOn(view.rootPath, paths);
  }
  return landed;
}

function namesOf(ready: PreparedLanding["ready"]): readonly string[] {
  return ready.flatMap(({ step: { path, tree } }) => [path, ...(tree?.kept ?? []).map((one) => one.path)]);
}

/**
 * Notes what a landing is about to change. Where it fails later, the note stays as that of changes of which nobody says
 * that they were made.
 */
async function noteLanding(
  keeping: Keeping | undefined,
  work: LandingWork,
  { ready }: PreparedLanding,
): Promise<NotedChanges | undefined> {
  if (keeping === undefined) return undefined;
  const steps = keptChanges(keeping, changingPaths(work, ready));
  const { changes, isCut } = (await inSlices("keeping what a command changes", steps)).result;
  return changes.length === 0 ? undefined : keeping.note(changes, { isCut });
}

async function landNoted(
  { view, work, aside, prepared, onMoved }: ReadyLanding,
  { lockOf, unchanged = [], ground, onLanded }: Conditions,
  signal: AbortSignal,
): Promise<Landed> {
  const { directory, root } = view;
  const moves = prepared.ready.map(({ move }) => move);
  const locks = [...new Set([...unchanged, ...moves].flatMap((one) => lockOf?.(one.path) ?? []))];
  const mark = `held while ${directory.slice(directory.lastIndexOf("/") + 1)} lands\n`;
  const end = async () => {
    // in this order: whoever takes back what a killed kernel landed gives back its locks, too
    releaseLocks(root, locks, mark);
    await aside.release();
    await endJournal(directory);
  };
  // before the landing is ready: a file that is closed to its owner is opened to be read, which changes its times
  const steps = onLanded === undefined ? [] : prepared.ready.map(({ step }) => step);
  const { result: effects } = await inSlices("reading what lands", landingEffects(work, steps));
  const ready = { ...prepared, readyNs: work.nowNs() };
  const { dev, ino } = fstatSync(root, { bigint: true });
  aside.hold();
  const journal = {
    root: { path: view.rootPath, device: String(dev), inode: String(ino) },
    ...(aside.isElsewhere && { side: aside.path }),
    locks,
    mark,
    readyNs: String(ready.readyNs),
    moves,
  };
  await settled([writeJournal(directory, journal), syncContents(work.side, waitingOf(work, prepared))]);
  try {
    const others = takeLocks(root, locks, mark)
      ? unchanged.filter((one) => !isUnchanged(work, one)).map((one) => one.path)
      : locks;
    const isOther = others.length === 0 && ground?.stands() === false;
    const landing =
      others.length > 0 || isOther ? notLanded(isOther ? moves.map(({ path }) => path) : others) : undefined;
    const landed =
      landing ?? (await inSlices("landing what a command changed", applyLanding(work, ready, signal))).result;
    onMoved();
    if (landed.notKept.length === 0) ground?.landed();
    const isLeft = new Set(landed.notKept.map((one) => one.path));
    const hasLanded = landed.created + landed.changed + landed.removed > 0;
    if (hasLanded) await onDisk(() => syncNames(work, changedDirectories(prepared)));
    await onDisk(end);
    if (hasLanded && onLanded !== undefined) {
      const recording = recordedEffects(effects, (path) => isLeft.has(path));
      onLanded((await inSlices("recording what landed", recording)).result);
    }
    return landed;
  } finally {
    releaseLocks(root, locks, mark);
  }
}

/** What is to be on disk before it is moved. */
function waitingOf(work: LandingWork, { ready }: PreparedLanding): readonly Below[] {
  return ready.flatMap(({ step: { kind, path, tree }, move: { own, aside } }) => {
    if (own === undefined || kind === "put_link") return [];
    const directory = work[aside.in];
    const inside = (tree?.kept ?? []).filter((one) => one.kind !== "link");
    const paths = inside.map((one) => aside.path + one.path.slice(path.length));
    return [aside.path, ...paths].map((one) => ({ directory, path: one }));
  });
}

/** Directories whose names or rights change. */
function changedDirectories({ ready }: PreparedLanding): ReadonlySet<string> {
  return new Set(ready.flatMap(({ move: { kind, path } }) => (kind === "rights" ? [path] : [parentOf(path)])));
}

/** What has landed stays. @throws ToolFailure OUTCOME_UNKNOWN where the disk does not answer for it */
async function onDisk(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new ToolFailure(
      "OUTCOME_UNKNOWN",
      "what the command changed has landed, but the disk did not confirm that it holds it",
      { suggestion: "look at the workspace, and tell the operator; the kernel's log has the cause", cause: error },
    );
  }
}

/** Somebody holds a lock, or has changed what has to be as it was. */
function notLanded(paths: readonly string[]): Landed {
  return { ...NOTHING, notKept: paths.map((path) => ({ path, reason: "changed_meanwhile" })) };
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether a file says what it said when the view began, and nobody has changed it since. */
function isUnchanged({ root, sinceNs }: LandingWork, { path, text }: { readonly path: string; readonly text: string }) {
  const parent = openBeneath(root, parentOf(path) || ".", OPEN_DIRECTORY, "plain");
  if (parent < 0) return false;
  try {
    const there = standingAt(parent, nameOf(path));
    if (there?.kind !== "file" || there.changedNs >= sinceNs || there.bytes > text.length + 1) return false;
    return readFileSync(pathIn(parent, nameOf(path)), { encoding: "utf8", flag: READ }).trimEnd() === text;
  } finally {
    closeSync(parent);
  }
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
  const answer = (await review?.(effects.result, sideOpener(work))) ?? "refused";
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
