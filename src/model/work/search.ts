/**
 * Defines the search handle of tools: finds and counts text in files that the call may read.
 *
 * Paths are what the agent wrote, and the paths in results can be used in other calls. Methods throw `ToolFailure` or
 * `Refusal` and never look outside the workspace.
 */

/** What is searched for: a regular expression in RE2's syntax, or text that stands in files as it is. */
export interface SearchPattern {
  readonly kind: "regex" | "literal";
  readonly text: string;
}

/** Where and for what to search. */
export interface SearchQuery {
  readonly pattern: SearchPattern;
  /** Whether directories below the named one are searched too. */
  readonly recursive: boolean;
  /** Only files that match: a pattern without `/` is for names, one with `/` for paths from the named directory. */
  readonly glob?: string;
  /** Not files that match, as `glob` says it. */
  readonly exclude?: string;
}

/** A line of a file, from which a search goes on. */
export interface SearchPosition {
  readonly path: string;
  readonly line: number;
}

/** How much to show. */
export interface FindOptions extends SearchQuery {
  /** Lines shown before and after each that matches. */
  readonly context: number;
  readonly linesMax: number;
  /** Bytes that the lines may take as JSON; never more than an answer shows. */
  readonly bytesMax?: number;
  /** The last line that was shown before: what comes behind it is wanted. */
  readonly after?: SearchPosition;
}

/** A line in which a match begins; lines and columns count from 1, columns in characters. */
export interface FoundLine {
  readonly path: string;
  readonly line: number;
  /** Where the first match in the line begins. */
  readonly column: number;
  /** The line without its end; bytes that are not UTF-8 stand as U+FFFD. */
  readonly text: string;
  /** The line is longer, and `text` is the part around the match. */
  readonly cut?: true;
  /** The last line of the match, when it goes on beyond this one. */
  readonly endLine?: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Files that were left out, by reason. Files that the call may not see are not among them. */
export interface SkippedFiles {
  readonly binary: number;
  readonly tooLarge: number;
  /** Closed to the kernel's user, replaced by something else meanwhile, or with a name that is not UTF-8. */
  readonly unreadable: number;
  /** Gone before they could be opened. */
  readonly vanished: number;
}

/** What a search looked at. */
export interface SearchExtent {
  readonly filesSearched: number;
  readonly skipped: SkippedFiles;
  /** Whether a limit left something out. */
  readonly truncated: boolean;
}

/** The lines that were found, by path in the order of its bytes, then by line. */
export interface FindResult extends SearchExtent {
  readonly lines: readonly FoundLine[];
}

/** How often the pattern occurs in one file, without overlap. */
export interface FileCount {
  readonly path: string;
  readonly count: number;
}

/** The numbers of all files, and of each of the first ones. */
export interface CountResult extends SearchExtent {
  readonly total: number;
  readonly filesMatched: number;
  readonly files: readonly FileCount[];
}

/** Contained search in the files of one workspace, for one call. */
export interface SearchAccess {
  readonly find: (path: string, options: FindOptions) => Promise<FindResult>;
  readonly count: (path: string, query: SearchQuery) => Promise<CountResult>;
}
