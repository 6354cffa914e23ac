/**
 * Records which objects a repository holds, and finds those added since an earlier look.
 *
 * It knows them as far as the places tell in which they lie.
 *
 * INVARIANTS: objects are what their names say, so that those that are still where they were need no second look.
 * Whatever is gone, or of another kind than an addition, makes nothing of an earlier look certain. A place that was
 * changed a moment before a look may have been changed after it, within the same tick of the machine's clock, and
 * counts as changed.
 */

import type { RepositoryFiles } from "./repository-files.ts";

/**
 * Names of loose objects of a repository that are remembered; the history of one with more is looked through anew after
 * each change.
 */
const GIT_LOOSE_OBJECTS_KEPT_MAX = 20_000;
/**
 * Files beside packs that are looked at; the history of a repository with more is looked through anew after each
 * change.
 */
const GIT_PACKS_KEPT_MAX = 4096;
/** Working trees that share a repository; one with more is hidden from commands. */
const GIT_WORKTREES_MAX = 1000;

/** What was seen at one look. */
export interface HeldObjects {
  /** Of each of `SOURCES`. */
  readonly marks: readonly string[];
  /** Of the index of each working tree; absent where they are too many. */
  readonly indexes?: ReadonlyMap<string, string>;
  /** What was changed later than that, in milliseconds, may have been changed again after the look. */
  readonly settledMs: number;
  /**
   * Names in each directory of loose objects, and packs with their marks; absent where they are too many to be kept.
   */
  readonly listed?: { readonly loose: readonly ReadonlySet<string>[]; readonly packs: ReadonlyMap<string, string> };
}

/** What came in between two looks. */
export interface AddedObjects {
  /** Names of objects. */
  readonly loose: readonly string[];
  /** Names of indexes of packs. */
  readonly packs: readonly string[];
  readonly isStagedOther: boolean;
}

/** Directories that loose objects lie in. */
const LOOSE = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, "0"));
const OBJECTS = "objects";
const PACKS = "objects/pack";
const ALTERNATES = "objects/info/alternates";
/** What decides how objects are found and read, so that nothing earlier holds where it is another. */
const READING = ["objects/info", ALTERNATES, "objects/pack/multi-pack-index", "shallow", "config", "modules"] as const;
/** Whatever names in a history depend on; a directory is another when something is added to it. */
const SOURCES = [...LOOSE.map((name) => `${OBJECTS}/${name}`), OBJECTS, PACKS, ...READING];

const LOOSE_NAME = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const PACK_INDEX = /^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.idx$/;
/** No machine's clock ticks more slowly. */
const TICK_MS = 20;

/**
 * What the repository holds now.
 * @param before an earlier look, of which is kept what still holds
 * @param nowMs not later than this look
 */
export function heldObjects(files: RepositoryFiles, before: HeldObjects | undefined, nowMs: number): HeldObjects {
  const marks = SOURCES.map((name) => files.markOf(`.git/${name}`));
  const indexes = indexMarks(files);
  const now = { marks, settledMs: nowMs - TICK_MS, ...(indexes && { indexes }) };
  const loose = looseNames(files, before, now);
  const packs = loose && packMarks(files);
  return { ...now, ...(loose && packs && { listed: { loose, packs } }) };
}

/** Whether the repository holds others, of submodules. */
export function holdsOthers(files: RepositoryFiles): boolean {
  return files.kindOf(".git/modules") !== "nothing";
}

/** Whether nothing has changed. @param isSure whether what was changed right before the first look counts as changed */
export function isUnchanged(before: HeldObjects, now: HeldObjects, isSure: boolean): boolean {
  const earlier = isSure ? before : { ...before, settledMs: Number.POSITIVE_INFINITY };
  return SOURCES.every((_, index) => isSame(earlier, now, index)) && isStagedSame(earlier, now);
}

/** What was added since `before`; `undefined` where something else may have changed, too. */
export function addedObjects(before: HeldObjects, now: HeldObjects): AddedObjects | undefined {
  const isNamedSame = (name: string): boolean => isSame(before, now, SOURCES.indexOf(name));
  const holdsAll = !isThere(now.marks[SOURCES.indexOf(ALTERNATES)]);
  if (before.listed === undefined || now.listed === undefined || !holdsAll || !READING.every(isNamedSame))
    return undefined;
  if (inodeOf(before.marks[SOURCES.indexOf(OBJECTS)]) !== inodeOf(now.marks[SOURCES.indexOf(OBJECTS)]))
    return undefined;
  for (const [name, mark] of before.listed.packs) if (now.listed.packs.get(name) !== mark) return undefined;
  const packs = [...now.listed.packs.keys()].filter((name) => before.listed?.packs.has(name) !== true);
  const loose: string[] = [];
  for (const [index, directory] of LOOSE.entries()) {
    const known = before.listed.loose[index] ?? NONE;
    const names = now.listed.loose[index] ?? NONE;
    if (names === known) continue;
    for (const name of known) if (!names.has(name)) return undefined;
    for (const name of names) if (!known.has(name)) loose.push(directory + name);
  }
  return { loose, packs, isStagedOther: !isStagedSame(before, now) };
}

const NONE: ReadonlySet<string> = new Set();

function looseNames(
  files: RepositoryFiles,
  before: HeldObjects | undefined,
  now: Pick<HeldObjects, "marks" | "settledMs">,
): readonly ReadonlySet<string>[] | undefined {
  let left = GIT_LOOSE_OBJECTS_KEPT_MAX;
  const all: ReadonlySet<string>[] = [];
  for (const [index, directory] of LOOSE.entries()) {
    const known = before?.listed?.loose[index];
    const names =
      known !== undefined && before && isSame(before, now, index)
        ? known
        : listed(files, `${OBJECTS}/${directory}`, left);
    if (names === undefined || names.size > left) return undefined;
    left -= names.size;
    all.push(names);
  }
  return all;
}

function listed(files: RepositoryFiles, directory: string, namesMax: number): ReadonlySet<string> | undefined {
  const names = files.namesIn(`.git/${directory}`, namesMax);
  return names === undefined
    ? undefined
    : names.length === 0
      ? NONE
      : new Set(names.filter((name) => LOOSE_NAME.test(name)));
}

function packMarks(files: RepositoryFiles): ReadonlyMap<string, string> | undefined {
  const names = files.namesIn(`.git/${PACKS}`, GIT_PACKS_KEPT_MAX);
  return (
    names &&
    new Map(
      names
        .filter((name) => PACK_INDEX.test(name))
        .map((name) => {
          const pack = name.replace(/idx$/, "pack");
          // Git gives a pack another time when it finds in it what it would have written.
          return [name, `${files.markOf(`.git/${PACKS}/${name}`)}\n${fileOf(files.markOf(`.git/${PACKS}/${pack}`))}`];
        }),
    )
  );
}

function indexMarks(files: RepositoryFiles): ReadonlyMap<string, string> | undefined {
  const trees = files.namesIn(".git/worktrees", GIT_WORKTREES_MAX);
  return (
    trees &&
    new Map(
      ["index", ...trees.map((name) => `worktrees/${name}/index`)].map((path) => [path, files.markOf(`.git/${path}`)]),
    )
  );
}

/** Whether a source is as it was, and cannot have changed right after the first look. */
function isSame(before: HeldObjects, now: Pick<HeldObjects, "marks">, index: number): boolean {
  return isSameMark(before, before.marks[index], now.marks[index]);
}

function isStagedSame(before: HeldObjects, now: HeldObjects): boolean {
  if (before.indexes === undefined || before.indexes.size !== now.indexes?.size) return false;
  return [...before.indexes].every(([path, mark]) => isSameMark(before, mark, now.indexes?.get(path)));
}

function isSameMark({ settledMs }: HeldObjects, before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && before === now && changedMs(before) < settledMs;
}

/** A negative number of an error is the mark of what is not there. */
function isThere(mark = ""): boolean {
  return !mark.startsWith("-");
}

/** When what has `mark` was last changed; what is not there, or cannot be looked at, says nothing of that. */
function changedMs(mark: string): number {
  const at = mark.lastIndexOf(" ");
  return at === -1 ? 0 : Number(mark.slice(at + 1)) / 1e6;
}

/** The number of a file or directory, and its kind. */
function inodeOf(mark = ""): string {
  return mark.split(" ", 2).join(" ");
}

/** The same with its size. */
function fileOf(mark: string): string {
  return mark.split(" ", 3).join(" ");
}
