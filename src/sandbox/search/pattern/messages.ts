/**
 * Defines the messages between a search and its threads.
 *
 * They hold only numbers and texts. Threads get descriptors of directories that the search holds open, and names in
 * them that the call may read. They never see a path.
 */
import type { FoundLine, SearchPattern, SkippedFiles } from "../../../model/work/search.ts";
import type { HiddenRange } from "../../../text/hidden-range.ts";

/** What is wanted of each file. */
export type WantedOfFiles =
  | { readonly kind: "count" }
  | { readonly kind: "lines"; readonly context: number; readonly linesMax: number };

/** The places of a text that the call has already; `content`, with groups filled in, is what goes to each. */
export interface WantedPlaces {
  readonly kind: "places";
  readonly text: Uint8Array;
  readonly content: string;
  readonly placesMax: number;
}

/** What a thread is asked for. */
export type Wanted = WantedOfFiles | WantedPlaces;

/** A match in a text; `content` is there where groups were filled in. */
export interface FoundPlace {
  readonly start: number;
  readonly end: number;
  readonly content?: string;
}

/**
 * Files to search: `names[i]` in the directory `directories[i]`, or that descriptor's own file when the name is empty.
 */
export interface BatchFiles {
  readonly directories: readonly number[];
  readonly names: readonly string[];
  /** The first line that is wanted of the first file. */
  readonly fromLine?: number;
  /** By file: what is searched and shown otherwise than it stands there. */
  readonly hidden?: ReadonlyMap<number, readonly HiddenRange[]>;
  /** By file: why it is not searched, although it may be there again by now. */
  readonly leftOut?: ReadonlyMap<number, keyof SkippedFiles>;
}

/** Work for a thread: without files only the pattern is tried. */
export interface SearchWork {
  readonly pattern: SearchPattern;
  readonly wanted: Wanted;
  readonly files: BatchFiles;
}

/** A line as a thread found it; which file it is in says the batch. */
export type ThreadLine = Omit<FoundLine, "path">;

/** A file of the batch in which the pattern occurs. */
export interface ThreadMatch {
  readonly index: number;
  readonly count: number;
  readonly lines: readonly ThreadLine[];
}

/** What became of the work. */
export type WorkResult =
  | {
      readonly kind: "done";
      readonly filesSearched: number;
      readonly skipped: SkippedFiles;
      readonly matches: readonly ThreadMatch[];
      /** Of a text. */
      readonly places?: readonly FoundPlace[];
    }
  /** The content for the matches cannot be made of them. */
  | { readonly kind: "bad_content"; readonly problem: string }
  | { readonly kind: "invalid"; readonly problem: string }
  | { readonly kind: "too_big" }
  /** Matching took too long: in a file of the batch, or while the pattern was made ready (`index` -1). */
  | { readonly kind: "over_budget"; readonly index: number }
  /** There was not memory enough for the thread's answer. */
  | { readonly kind: "out_of_memory"; readonly index: number }
  /** The machine had no more descriptors or memory, so that a file could not be opened. */
  | { readonly kind: "busy"; readonly index: number }
  /** The machine did not give a file's bytes in time. */
  | { readonly kind: "stalled"; readonly index: number }
  | { readonly kind: "broken"; readonly message: string };

/** A question to a thread. */
export interface ThreadRequest {
  readonly id: number;
  readonly work: SearchWork;
}

/** Its answer. */
export interface ThreadReply {
  readonly id: number;
  readonly result: WorkResult;
  /** What the thread has used of the engine so far. */
  readonly wear: Wear;
}

/** What the engine of a thread holds, and never gives back. */
export interface Wear {
  readonly engineBytes: number;
  readonly patternsCompiled: number;
}

/** Cells of the memory in which a thread shows what it is doing. */
export const PULSE = {
  /** Counts up with each step. */ step: 0,
  /** File of the batch, -1 before the first. */ index: 1,
  /** 1 while matching. */ matching: 2,
} as const;
/** Bytes of that memory. */
export const PULSE_BYTES = 12;
