/**
 * Walks a tree for files to search, in the byte order of their paths.
 *
 * It goes from directory handle to directory handle and decides which files are searched. Left out are secret and
 * managed places, what the lease or policy does not let the call read, shared places under STRICT unless the search
 * begins in one, temporary files, and what `.gitignore` names. Dot files are searched as any other.
 *
 * Symbolic links are not followed. Those to directories are not, so that there are no loops, and those to files are
 * not, because files are searched where they really lie.
 *
 * INVARIANTS: each directory is opened from its parent's handle without following links or crossing mounts. No handle
 * is closed while a thread may use it.
 */
import { closeSync, constants, fstatSync, opendirSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { textOf } from "../../../base/bytes.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { GlobTest } from "../../../names/glob.ts";
import { failureOf, isLeased, openingFailure } from "../../files/places/failures.ts";
import { isTemporaryName } from "../../files/places/temporary.ts";
import { errno, errorName, isWant, openBeneath } from "../../native/syscalls.ts";
import type { SearchExclusions } from "./exclusions.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { IGNORE_FILE_BYTES_MAX } from "./ignore-rules.ts";

/** Files that one search looks into. */
const SEARCH_FILES_MAX = 200_000;
/** Directory entries that one search looks at. */
const SEARCH_ENTRIES_SCANNED_MAX = 1_000_000;
/** Directory levels that a search enters; each holds a descriptor. */
export const SEARCH_DEPTH_MAX = 64;
/** Files that a search thread gets at once: handing over costs as much as searching a few. */
export const SEARCH_BATCH_FILES = 64;
/** Directories of one batch: a tree with a file in each must not need a descriptor for every file of a batch. */
const SEARCH_BATCH_DIRECTORIES = 16;

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const IGNORE_FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW;
const IGNORE_FILE = ".gitignore";
/** Names read after which other calls get their turn. */
const NAMES_PER_TURN = 1024;
/**
 * Milliseconds of judging entries after which they do, whether a search wants them or not: patterns and rules may take
 * long for each.
 */
const TURN_MS = 0.5;
/** Names that one system call brings. */
const NAMES_PER_CALL = 512;

/** An open directory that closes when its last user lets it go. */
export class SharedDirectory {
  readonly descriptor: number;
  #users = 1;
  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }
  /** One more user. */
  take(): this {
    this.#users += 1;
    return this;
  }
  /** One user less. */
  release(): void {
    this.#users -= 1;
    if (this.#users === 0) closeSync(this.descriptor);
  }
}

/** A file to search: a name in an open directory, and where it lies. */
export interface Candidate {
  readonly directory: SharedDirectory;
  readonly name: string;
  readonly place: WorkspacePath;
}

/** What bounds a walk, and what it found out. */
export interface WalkOptions {
  readonly exclusions: SearchExclusions;
  readonly recursive: boolean;
  /** Tests the path from the place where the walk begins. */
  readonly glob: GlobTest | undefined;
  readonly ignoreRules: IgnoreRules;
  /** Throws when the call was cancelled; answers whether the time is up. */
  readonly isTimeUp: () => boolean;
  readonly report: WalkReport;
}

/** What a walk found out besides files. */
export interface WalkReport {
  /** Files or directories that could not be opened or named. */
  unreadable: number;
  truncated: boolean;
}

interface Level {
  readonly directory: SharedDirectory;
  readonly place: WorkspacePath;
  readonly ignoreRules: IgnoreRules;
  /** Names in Latin-1, a slash behind those of directories, in order. */
  readonly entries: readonly string[];
  /** All names are the same text in Latin-1 and UTF-8. */
  readonly isPlain: boolean;
  next: number;
}

/**
 * Walks from the open directory `start` and hands over batches of candidates; each candidate's directory is held for
 * the receiver, who releases it. Closes `start`. Ends early when `emit` answers `false`.
 */
export async function walkTree(
  start: { readonly descriptor: number; readonly place: WorkspacePath },
  options: WalkOptions,
  emit: (batch: readonly Candidate[]) => Promise<boolean>,
): Promise<void> {
  const walk = new Walk(start.place, options);
  let batch: Candidate[] = [];
  let directories = 0;
  let files = 0;
  try {
    await walk.enter(new SharedDirectory(start.descriptor), start.place, options.ignoreRules);
    for (;;) {
      const step = walk.next();
      // Most files follow one another without a wait, and waiting for each costs more than judging it.
      if (step instanceof Promise) {
        await step;
        continue;
      }
      if (step === undefined) break;
      files += 1;
      if (files > SEARCH_FILES_MAX) {
        options.report.truncated = true;
        break;
      }
      // A directory may come again after those below it; it is counted twice then.
      if (batch.at(-1)?.directory !== step.directory) directories += 1;
      step.directory.take();
      batch.push(step);
      if (batch.length < SEARCH_BATCH_FILES && directories < SEARCH_BATCH_DIRECTORIES) continue;
      const full = batch;
      batch = [];
      directories = 0;
      if (!(await emit(full))) return;
    }
    const rest = batch;
    batch = [];
    if (rest.length > 0) await emit(rest);
  } finally {
    for (const { directory } of batch) directory.release();
    walk.close();
  }
}

class Walk {
  readonly #base: WorkspacePath;
  readonly #options: WalkOptions;
  readonly #report: WalkReport;
  readonly #levels: Level[] = [];
  #scanned = 0;
  #turnMs = performance.now();

  constructor(base: WorkspacePath, options: WalkOptions) {
    this.#base = base;
    this.#options = options;
    this.#report = options.report;
  }

  /** Goes into an open directory, which it closes in the end. */
  async enter(directory: SharedDirectory, place: WorkspacePath, outer: IgnoreRules): Promise<void> {
    try {
      const entries = await this.#read(directory.descriptor);
      const { exclusions } = this.#options;
      const own = entries.includes(IGNORE_FILE) ? readIgnoreFile(directory.descriptor) : undefined;
      const ignoreRules = own === undefined ? outer : outer.with(exclusions.fromProject(place), own);
      this.#levels.push({ directory, place, ignoreRules, entries, isPlain: isPlain(entries.join("")), next: 0 });
    } catch (error) {
      directory.release();
      throw error;
    }
  }

  /** The next file; or a wait, after which to ask again: for other calls, or until a directory was entered. */
  next(): Candidate | Promise<void> | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      if (performance.now() - this.#turnMs > TURN_MS) return this.#giveTurn();
      const raw = level.entries[level.next];
      level.next += 1;
      if (raw === undefined) {
        this.#levels.pop();
        level.directory.release();
      } else if (raw.endsWith("/")) {
        const name = this.#nameOf(level, raw.slice(0, -1));
        if (name !== undefined) return this.#descend(level, name, placeIn(level.place, name));
      } else {
        const name = this.#nameOf(level, raw);
        if (name === undefined) continue;
        const place = placeIn(level.place, name);
        if (this.#mayBeSearched(level, place)) return { directory: level.directory, name, place };
      }
    }
    return undefined;
  }

  async #giveTurn(): Promise<void> {
    await nextTurn();
    if (this.#options.isTimeUp()) this.#cutShort();
    this.#turnMs = performance.now();
  }

  close(): void {
    for (const { directory } of this.#levels.splice(0)) directory.release();
  }

  #cutShort(): void {
    this.#report.truncated = true;
    this.close();
  }

  #mayBeSearched(level: Level, place: WorkspacePath): boolean {
    const { glob, exclusions } = this.#options;
    if (glob !== undefined && !glob(below(this.#base, place))) return false;
    if (!exclusions.mayRead(place)) return false;
    return !level.ignoreRules.leaveOut(exclusions.fromProject(place), false);
  }

  async #descend(level: Level, name: string, place: WorkspacePath): Promise<void> {
    const { exclusions, isTimeUp } = this.#options;
    if (isTimeUp()) {
      this.#cutShort();
      return;
    }
    const path = exclusions.fromProject(place);
    if (!exclusions.mayEnter(place) || level.ignoreRules.leaveOut(path, true)) return;
    if (this.#levels.length >= SEARCH_DEPTH_MAX) {
      this.#report.truncated = true;
      return;
    }
    const inner = openBeneath(level.directory.descriptor, name, DIRECTORY_FLAGS, "plain");
    // Gone, replaced by a link, or another mount: not part of the tree any more.
    if ([-errno.ENOENT, -errno.ENOTDIR, -errno.ELOOP, -errno.EXDEV].includes(inner)) return;
    if (isWant(inner)) throw failureOf(errorName(inner), path);
    if (inner < 0) {
      this.#report.unreadable += 1;
      return;
    }
    try {
      await this.enter(new SharedDirectory(inner), place, level.ignoreRules.inside(path));
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || WANTS.has(code)) throw error;
      if (code !== "ENOENT") this.#report.unreadable += 1; // ENOENT: it was removed after it was opened
    }
  }

  /** The entries of a directory that may matter, in the order of the bytes of the paths below it. */
  async #read(descriptor: number): Promise<readonly string[]> {
    const names: string[] = [];
    // Latin-1 keeps every byte as it is, and orders like the bytes.
    const handle = opendirSync(`/proc/self/fd/${descriptor}`, { encoding: "latin1", bufferSize: NAMES_PER_CALL });
    try {
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        this.#scanned += 1;
        if (this.#scanned > SEARCH_ENTRIES_SCANNED_MAX) {
          this.#report.truncated = true;
          break;
        }
        if (this.#scanned % NAMES_PER_TURN === 0) {
          await nextTurn();
          if (this.#options.isTimeUp()) break;
        }
        // What comes after a directory's name in its files' paths is a slash, and that decides its place in the order.
        if (entry.isFile()) names.push(entry.name);
        else if (this.#options.recursive && entry.isDirectory()) names.push(`${entry.name}/`);
      }
    } finally {
      handle.closeSync();
    }
    return names.sort();
  }

  /** The name that stands in Latin-1; `undefined` when it is not searched. */
  #nameOf(level: Level, raw: string): string | undefined {
    const name = level.isPlain || isPlain(raw) ? raw : textOf(Buffer.from(raw, "latin1"));
    if (name === undefined) this.#report.unreadable += 1; // such a name cannot be judged, and no call can name it
    return name === undefined || isTemporaryName(name) ? undefined : name;
  }
}

function placeIn(directory: WorkspacePath, name: string): WorkspacePath {
  return { root: directory.root, path: directory.path === "." ? name : `${directory.path}/${name}` };
}

/** What says something of the machine, and nothing of the tree: leaving a part out for it would count wrongly. */
const WANTS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error
    ? error.code
    : undefined;
}

/** Whether `raw` is the same text in Latin-1 and UTF-8. */
function isPlain(raw: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names may hold any byte
  return /^[\x00-\x7f]*$/.test(raw);
}

/** The path of `place` from `base`, which lies above it. */
function below(base: WorkspacePath, place: WorkspacePath): string {
  return base.path === "." ? place.path : place.path.slice(base.path.length + 1);
}

/**
 * The text of the `.gitignore` in an open directory, if there is a readable one. Git does not follow links here either.
 */
export function readIgnoreFile(directory: number, folder = ""): string | undefined {
  const descriptor = openBeneath(
    directory,
    folder === "" ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`,
    IGNORE_FILE_FLAGS,
    "plain",
  );
  // What was left out a moment ago is not to turn up because somebody holds the file.
  if (isWant(descriptor) || isLeased(descriptor)) throw openingFailure(descriptor, IGNORE_FILE);
  if (descriptor < 0) return undefined;
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    const bytes = Buffer.alloc(IGNORE_FILE_BYTES_MAX);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch {
    return undefined; // rules that cannot be read leave nothing out
  } finally {
    closeSync(descriptor);
  }
}
