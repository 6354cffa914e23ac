/**
 * Assembles the findings of the search threads into an answer.
 *
 * It takes them batch by batch in the order of paths, until the answer is full.
 *
 * INVARIANT: numbers are those of the files up to the last one shown, so that an answer that was cut does not depend on
 * what else was searched meanwhile.
 */
import { COUNT_FILES_LISTED_MAX, SHOWN_BYTES_MAX } from "../../base/limits.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type {
  CountResult,
  FileCount,
  FindOptions,
  FindResult,
  FoundLine,
  SearchExtent,
} from "../../model/work/search.ts";
import { failureOf, quoted } from "../files/places/failures.ts";
import type { ThreadLine, ThreadMatch, WorkResult } from "./pattern/messages.ts";
import type { Candidate, WalkReport } from "./tree/walk.ts";

type Done = Extract<WorkResult, { kind: "done" }>;

/** Names a place as other calls can. */
export type ShownPath = (place: WorkspacePath) => string;

/** An answer in the making. */
export abstract class Answer {
  #filesSearched = 0;
  readonly #skipped = { binary: 0, tooLarge: 0, unreadable: 0, vanished: 0 };
  #truncated = false;

  /** Whether nothing more fits. */
  get isFull(): boolean {
    return false;
  }

  /** Takes the result of a batch. */
  add(files: readonly Candidate[], result: Done): void {
    this.#filesSearched += result.filesSearched;
    for (const reason of ["binary", "tooLarge", "unreadable", "vanished"] as const)
      this.#skipped[reason] += result.skipped[reason];
    for (const match of result.matches) {
      const file = files[match.index];
      if (file !== undefined) this.take(file, match);
    }
  }

  /** Takes what a file holds. */
  protected abstract take(file: Candidate, match: ThreadMatch): void;

  /** Takes what the walk left out. */
  addWalk(report: WalkReport): void {
    this.#skipped.unreadable += report.unreadable;
    if (report.truncated) this.#truncated = true;
  }

  /** Says that something did not fit. */
  protected cut(): void {
    this.#truncated = true;
  }

  /** Fails when the one file of the search was left out. */
  requireSearched(path: string): void {
    const { binary, tooLarge, unreadable, vanished } = this.#skipped;
    if (binary > 0) {
      const next = 'search another file, or read this one with `encoding: "base64"`';
      throw new ToolFailure("BINARY_FILE", `${quoted(path)} is not text: it holds null bytes`, next);
    }
    if (tooLarge > 0) {
      throw new ToolFailure(
        "FILE_TOO_LARGE",
        `${quoted(path)} is larger than what is searched`,
        "read it in parts with read_file",
      );
    }
    if (vanished > 0) throw failureOf("ENOENT", path);
    if (unreadable > 0) throw failureOf("EACCES", path);
  }

  /** What was looked at. */
  protected extent(): SearchExtent {
    return { filesSearched: this.#filesSearched, skipped: { ...this.#skipped }, truncated: this.#truncated };
  }
}

/** Lines that were found. */
export class FindAnswer extends Answer {
  readonly #shownPath: ShownPath;
  readonly #linesMax: number;
  readonly #lines: FoundLine[] = [];
  readonly #bytesMax: number;
  #bytes = 0;
  #full = false;

  /** @param path as it stands in the answer beside the lines */
  constructor(
    shownPath: ShownPath,
    { linesMax, bytesMax = Number.POSITIVE_INFINITY }: Pick<FindOptions, "linesMax" | "bytesMax">,
    path: string,
  ) {
    super();
    this.#bytesMax = Math.min(roomBeside(path), bytesMax);
    this.#shownPath = shownPath;
    this.#linesMax = linesMax;
  }

  override get isFull(): boolean {
    return this.#full;
  }

  protected override take(file: Candidate, match: ThreadMatch): void {
    const path = this.#shownPath(file.place);
    for (const line of match.lines) {
      if (this.#full) return;
      const bytes = bytesOf(path, line);
      if (this.#lines.length === this.#linesMax || (this.#lines.length > 0 && this.#bytes + bytes > this.#bytesMax)) {
        this.#full = true;
        this.cut();
        return;
      }
      this.#bytes += bytes;
      this.#lines.push({ path, ...line });
    }
  }

  /** The answer. */
  result(): FindResult {
    return { ...this.extent(), lines: this.#lines };
  }
}

/** Bytes of JSON of an answer around its lines or files, besides the path. */
const ENVELOPE_BYTES = 512;

/** Bytes of JSON that lines or files may take, so that the whole answer is one that is shown. */
function roomBeside(path: string): number {
  return SHOWN_BYTES_MAX - ENVELOPE_BYTES - printedBytes(path);
}

function printedBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Bytes of a line as it is printed, with the comma behind it and a name that is longer there. */
function bytesOf(path: string, line: ThreadLine): number {
  return printedBytes({ path, ...line }) + 2;
}

/** Numbers of occurrences. */
export class CountAnswer extends Answer {
  readonly #shownPath: ShownPath;
  readonly #files: FileCount[] = [];
  #total = 0;
  #filesMatched = 0;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param path as it stands in the answer beside the files */
  constructor(shownPath: ShownPath, path: string) {
    super();
    this.#bytesMax = roomBeside(path);
    this.#shownPath = shownPath;
  }

  protected override take(file: Candidate, { count }: ThreadMatch): void {
    this.#total += count;
    this.#filesMatched += 1;
    if (this.#files.length === COUNT_FILES_LISTED_MAX || this.#bytes > this.#bytesMax) return;
    const listed = { path: this.#shownPath(file.place), count };
    this.#bytes += printedBytes(listed) + 1;
    if (this.#bytes <= this.#bytesMax) this.#files.push(listed);
  }

  /** The answer. */
  result(): CountResult {
    return { ...this.extent(), total: this.#total, filesMatched: this.#filesMatched, files: this.#files };
  }
}
