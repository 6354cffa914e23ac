/**
 * What the threads found, put together: batch by batch in the order of paths, until the answer is full.
 *
 * INVARIANT: numbers are those of the files up to the last one shown, so that an answer that was cut does not depend on
 * what else was searched meanwhile.
 */
import { COUNT_FILES_LISTED_MAX, SHOWN_BYTES_MAX } from "../../base/limits.ts";
import type { WorkspacePath } from "../../model/access.ts";
import { ToolFailure } from "../../model/failure.ts";
import type { CountResult, FileCount, FindResult, FoundLine, SearchExtent } from "../../model/search.ts";
import { failureOf, quoted } from "../files/failures.ts";
import type { ThreadLine, ThreadMatch, WorkResult } from "./messages.ts";
import type { Candidate, WalkReport } from "./walk.ts";

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
    for (const reason of ["binary", "tooLarge", "unreadable", "vanished"] as const) this.#skipped[reason] += result.skipped[reason];
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
      throw new ToolFailure("FILE_TOO_LARGE", `${quoted(path)} is larger than what is searched`, "read it in parts with read_file");
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
  #bytes = 0;
  #full = false;

  constructor(shownPath: ShownPath, linesMax: number) {
    super();
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
      if (this.#lines.length === this.#linesMax || (this.#lines.length > 0 && this.#bytes + bytes > SHOWN_BYTES_MAX)) {
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

function bytesOf(path: string, line: ThreadLine): number {
  let bytes = Buffer.byteLength(path) + Buffer.byteLength(line.text);
  for (const text of line.before) bytes += Buffer.byteLength(text);
  for (const text of line.after) bytes += Buffer.byteLength(text);
  return bytes;
}

/** Numbers of occurrences. */
export class CountAnswer extends Answer {
  readonly #shownPath: ShownPath;
  readonly #files: FileCount[] = [];
  #total = 0;
  #filesMatched = 0;
  #bytes = 0;

  constructor(shownPath: ShownPath) {
    super();
    this.#shownPath = shownPath;
  }

  protected override take(file: Candidate, { count }: ThreadMatch): void {
    this.#total += count;
    this.#filesMatched += 1;
    if (this.#files.length === COUNT_FILES_LISTED_MAX || this.#bytes >= SHOWN_BYTES_MAX) return;
    const path = this.#shownPath(file.place);
    this.#bytes += Buffer.byteLength(path);
    this.#files.push({ path, count });
  }

  /** The answer. */
  result(): CountResult {
    return { ...this.extent(), total: this.#total, filesMatched: this.#filesMatched, files: this.#files };
  }
}
