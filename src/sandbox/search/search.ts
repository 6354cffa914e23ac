/**
 * The search handle of one call: walks, hands batches of files to the search threads, and puts their answers together.
 *
 * Decides: what is reported, and where an answer ends. Trusts: that the requested path was judged before the call.
 * INVARIANTS: the answer is in the order of paths and lines, and does not depend on which thread was quicker; what lies
 * behind the place where it was cut does not show in its numbers; all descriptors are closed once no thread uses them.
 */
import { constants } from "node:fs";
import type { Clock } from "../../base/clock.ts";

import { ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { IsolationLevel } from "../../model/place/workspace.ts";
import type { SearchAccess, SearchPosition, SearchQuery } from "../../model/work/search.ts";
import { compileGlob, type GlobTest } from "../../names/glob.ts";
import { failureOf, notAFile, quoted, throwIfCancelled, translated } from "../files/places/failures.ts";
import { type FileScope, type Found, findExisting, kindOf } from "../files/places/open.ts";
import { namedPath } from "../files/places/roots.ts";
import { errorName, openBeneath } from "../native/syscalls.ts";
import { type Answer, CountAnswer, FindAnswer } from "./answers.ts";
import { badGlob, failureOfWork } from "./failures.ts";
import type { BatchFiles, WantedOfFiles, WorkResult } from "./pattern/messages.ts";
import type { SearchThreads } from "./threads.ts";
import { exclusionsOf, type SearchExclusions } from "./tree/exclusions.ts";
import { HeldDirectories } from "./tree/held-directories.ts";
import { type HiddenIn, HiddenInBatch } from "./tree/hidden.ts";
import { ignoreRulesAbove } from "./tree/ignore-rules-above.ts";
import { type Candidate, SharedDirectory, type WalkReport, walkTree } from "./tree/walk.ts";

/** Milliseconds of one search; what was not looked at by then is left out, and the answer says so. */
const SEARCH_CALL_MS_MAX = 30_000;
/** Batches of one search that wait or run; each holds the descriptors of its directories. */
const SEARCH_BATCHES_PENDING_MAX = 16;

/** What searching needs of the call. */
export interface SearchScope extends FileScope {
  readonly isolationLevel: IsolationLevel;
  /** Whether zone, lease and policy let the call read the file at a place. */
  readonly mayRead: (place: WorkspacePath) => boolean;
  readonly threads: SearchThreads;
  /** The secrets in a file: they are searched and shown as their markers. */
  readonly hidden?: HiddenIn;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Directories that all searches of this process hold for their batches. */
const heldDirectories = new HeldDirectories();

/** Search for one call. */
export function createSearchAccess(scope: SearchScope): SearchAccess {
  const shownPath = (place: WorkspacePath) => namedPath(scope.roots, place);
  return {
    async find(path, options) {
      const { context, linesMax, after } = options;
      const answer = new FindAnswer(shownPath, options, path);
      // One more than is shown, to know that there are more.
      await run(scope, {
        path,
        query: options,
        wanted: { kind: "lines", context, linesMax: linesMax + 1 },
        answer,
        after,
      });
      return answer.result();
    },
    async count(path, query) {
      const answer = new CountAnswer(shownPath, path);
      await run(scope, { path, query, wanted: { kind: "count" }, answer });
      return answer.result();
    },
  };
}

/** One search: where it looks, for what, and which answer it fills. */
interface Search {
  readonly path: string;
  readonly query: SearchQuery;
  readonly wanted: WantedOfFiles;
  readonly answer: Answer;
  /** The line behind which it goes on. */
  readonly after?: SearchPosition | undefined;
}

async function run(scope: SearchScope, search: Search): Promise<void> {
  throwIfCancelled(scope.signal);
  const { path, query } = search;
  const glob = globOf(query);
  const found = findExisting(scope, path, ["read"]);
  const start = new SharedDirectory(found.descriptor);
  try {
    const batches = new Batches(scope, search);
    await batches.tryPattern();
    if (found.stats.isFile())
      await searchOne(batches, { directory: start.take(), name: "", place: found.place }, search);
    else if (found.stats.isDirectory()) await searchTree(scope, batches, { ...search, found, glob });
    else throw notAFile(path, kindOf(found.stats));
  } catch (error) {
    throw translated(error, path);
  } finally {
    start.release();
  }
}

/** Which files are searched, by their names or paths. */
function globOf({ glob, exclude }: SearchQuery): GlobTest | undefined {
  const wanted = glob === undefined ? undefined : testOf(glob);
  if (exclude === undefined) return wanted;
  const unwanted = testOf(exclude);
  return (path) => (wanted === undefined || wanted(path)) && !unwanted(path);
}

function testOf(glob: string): GlobTest {
  const test = compileGlob(glob);
  if (test === undefined) throw badGlob(glob);
  return glob.includes("/") ? test : (path) => test(path.slice(path.lastIndexOf("/") + 1));
}

/** A file that the call names is searched whatever rules say of it; that it cannot be is an error. */
async function searchOne(batches: Batches, file: Candidate, { path, answer }: Search): Promise<void> {
  await batches.take([file]);
  await batches.finish();
  batches.requireResumed();
  answer.requireSearched(path);
}

/** A search through a directory. */
interface TreeSearch extends Search {
  readonly found: Found;
  readonly glob: GlobTest | undefined;
}

async function searchTree(scope: SearchScope, batches: Batches, search: TreeSearch): Promise<void> {
  const { query, answer, found, glob } = search;
  const report: WalkReport = { unreadable: 0, truncated: false };
  const endMs = scope.clock.monotonicMs() + SEARCH_CALL_MS_MAX;
  const isTimeUp = () => {
    throwIfCancelled(scope.signal);
    if (scope.clock.monotonicMs() < endMs) return false;
    report.truncated = true;
    return true;
  };
  try {
    for (const start of startsOf(scope, found)) {
      const descriptor = openStart(scope, search, start);
      if (descriptor === undefined) continue;
      const exclusions: SearchExclusions = exclusionsOf(scope, start);
      const ignoreRules = ignoreRulesAbove(scope.roots, exclusions, start);
      const options = { exclusions, recursive: query.recursive, glob, ignoreRules, isTimeUp, report };
      await walkTree(
        { descriptor, place: start },
        options,
        async (batch) => (await batches.take(batch)) && !isTimeUp(),
      );
    }
    await batches.finish(isTimeUp);
    if (!report.truncated) batches.requireResumed();
  } finally {
    batches.abandon();
  }
  answer.addWalk(report);
}

/** Under SHARED a search of the whole service takes in the project's shared directories that lie outside of it. */
export function startsOf(
  scope: Pick<SearchScope, "workspace" | "roots" | "isolationLevel">,
  found: Found,
): readonly WorkspacePath[] {
  const { workspace, roots, isolationLevel } = scope;
  const isWhole = found.place.root === "service" && found.place.path === ".";
  if (isolationLevel !== "SHARED" || !isWhole || workspace.serviceRoot === workspace.projectRoot) return [found.place];
  const within = `${workspace.serviceRoot.slice(roots.project.path.length + 1)}/`;
  const shared = roots.sharedPaths
    .filter((path) => !path.startsWith(within))
    .map((path) => ({ root: "project" as const, path }));
  return [found.place, ...shared.sort((left, right) => (left.path < right.path ? -1 : 1))];
}

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens a directory in which a walk begins; a shared one may be missing. */
export function openStart(
  scope: Pick<SearchScope, "roots">,
  { found, path }: Pick<TreeSearch, "found" | "path">,
  start: WorkspacePath,
): number | undefined {
  const own = start === found.place;
  const descriptor = own
    ? openBeneath(found.descriptor, ".", DIRECTORY_FLAGS, "plain")
    : openBeneath(scope.roots.project.descriptor, start.path, DIRECTORY_FLAGS, "plain");
  if (descriptor >= 0) return descriptor;
  if (own) throw failureOf(errorName(descriptor), path);
  return undefined;
}

interface Pending {
  readonly files: readonly Candidate[];
  readonly result: Promise<WorkResult>;
}

/** The batches of one search: bounded in number, answered in order. */
class Batches {
  readonly #scope: SearchScope;
  readonly #query: SearchQuery;
  readonly #wanted: WantedOfFiles;
  readonly #answer: Answer;
  readonly #pending: Pending[] = [];
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  /** Where it goes on, until that file was met. */
  #after: SearchPosition | undefined;

  constructor(scope: SearchScope, { query, wanted, answer, after }: Search) {
    this.#after = after;
    this.#scope = scope;
    this.#query = query;
    this.#wanted = wanted;
    this.#answer = answer;
    this.#signal = AbortSignal.any([scope.signal, this.#stop.signal]);
  }

  /** A pattern that cannot be searched for is said to be so even where there is nothing to search. */
  async tryPattern(): Promise<void> {
    if (this.#query.pattern.kind === "literal") return;
    const result = await this.#untilCancelled(this.#run({ directories: [], names: [] }));
    if (result.kind !== "done") throw failureOfWork(result, this.#query.pattern, undefined);
  }

  /** Hands a batch over, and waits when there are many; `false` when the answer is complete. */
  async take(found: readonly Candidate[]): Promise<boolean> {
    const { files, fromLine } = this.#resumed(found);
    if (files.length === 0) return true;
    const held = new Set(files.map(({ directory }) => directory)).size;
    if (!(await heldDirectories.take(held, this.#signal))) {
      for (const { directory } of files) directory.release();
      throwIfCancelled(this.#scope.signal);
      return false;
    }
    const result = this.#searched(files, fromLine);
    void result.then(() => {
      for (const { directory } of files) directory.release();
      heldDirectories.give(held);
    });
    this.#pending.push({ files, result });
    while (this.#pending.length >= SEARCH_BATCHES_PENDING_MAX) await this.#settleOldest();
    return !this.#answer.isFull;
  }

  /** The files that come behind those of earlier answers, and the first line wanted of the first. */
  #resumed(files: readonly Candidate[]): { readonly files: readonly Candidate[]; readonly fromLine: number } {
    const after = this.#after;
    if (after === undefined) return { files, fromLine: 0 };
    const first = files.findIndex(({ place }) => namedPath(this.#scope.roots, place) === after.path);
    for (const { directory } of first === -1 ? files : files.slice(0, first)) directory.release();
    if (first === -1) return { files: [], fromLine: 0 };
    this.#after = undefined;
    return { files: files.slice(first), fromLine: after.line + 1 };
  }

  /** Fails when the file after which the search was to go on is not among those that are searched. */
  requireResumed(): void {
    const after = this.#after;
    if (after === undefined) return;
    const message = `${quoted(after.path)}, after which the search was to go on, is not searched (any more)`;
    throw new ToolFailure("FILE_NOT_FOUND", message, "search again without `after`");
  }

  /** Waits for what was handed over, as long as there is time. */
  async finish(isTimeUp: () => boolean = () => false): Promise<void> {
    while (this.#pending.length > 0 && !this.#answer.isFull && !isTimeUp()) await this.#settleOldest();
  }

  /** Gives up what was not begun; nobody wants it any more. */
  abandon(): void {
    this.#stop.abort();
  }

  async #settleOldest(): Promise<void> {
    const oldest = this.#pending.shift();
    if (oldest === undefined) return;
    const result = await this.#untilCancelled(oldest.result);
    if (this.#answer.isFull) return;
    if (result.kind !== "done") throw this.#failure(result, oldest.files);
    this.#answer.add(oldest.files, result);
  }

  #run(files: BatchFiles): Promise<WorkResult> {
    return this.#scope.threads.run({ pattern: this.#query.pattern, wanted: this.#wanted, files }, this.#signal);
  }

  /**
   * Searches the files as the caller may see them: where something was found, secrets are looked for, and hidden before
   * it counts.
   */
  async #searched(files: readonly Candidate[], fromLine: number): Promise<WorkResult> {
    const batch = {
      directories: files.map(({ directory }) => directory.descriptor),
      names: files.map(({ name }) => name),
      ...(fromLine > 0 && { fromLine }),
    };
    const hidden = new HiddenInBatch(batch, this.#scope.hidden);
    for (let pass = 0; pass <= files.length; pass += 1) {
      const result = await this.#run(hidden.files);
      if (result.kind !== "done") return result;
      const look = await hidden.lookAt(result.matches);
      if (look.kind === "busy") return look;
      if (look.kind === "settled") return result;
    }
    return { kind: "broken", message: "the secrets of a batch did not settle" };
  }

  #failure(result: Exclude<WorkResult, { kind: "done" }>, files: readonly Candidate[]): Error {
    const index = "index" in result ? result.index : -1;
    return failureOfWork(result, this.#query.pattern, files[index]?.place.path);
  }

  async #untilCancelled(result: Promise<WorkResult>): Promise<WorkResult> {
    const { signal } = this.#scope;
    throwIfCancelled(signal);
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<void>((resolve) => {
      onAbort = resolve;
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      const settled = await Promise.race([result, aborted]);
      throwIfCancelled(signal);
      return settled ?? result;
    } finally {
      if (onAbort) signal.removeEventListener("abort", onAbort);
    }
  }
}
