/**
 * Defines the code handle of tools: files below a named directory, their texts, usages and history.
 *
 * Only files that the call may read exist for it, and secrets in them are seen as their markers. Methods throw
 * `ToolFailure` or `Refusal`.
 */

/** A file, as other calls can name it. */
export interface CodeFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** The files below a directory, in the byte order of their paths. */
export interface CodeListing {
  readonly files: readonly CodeFile[];
  /** There are more, or some directories could not be entered in time. */
  readonly truncated: boolean;
  /** Files or directories that could not be opened. */
  readonly unreadable: number;
}

/** Why a file has no text: it is not there or not readable for this call, has null bytes, or is too large. */
export type NoText = "absent" | "binary" | "too_large";

/** The text of a file. */
export type CodeText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "none"; readonly why: NoText };

/** Which texts are wanted; files beyond the bounds are passed over. */
export interface TextsQuery {
  readonly files: readonly string[];
  /** Of one file. */
  readonly bytesMax: number;
  readonly totalBytesMax: number;
}

/** Which files were changed together with one, from the history of its repository; or why that is not known. */
export type ChangedTogether =
  | {
      readonly kind: "counted";
      /** Commits that changed the file, as far back as was looked. */
      readonly commits: number;
      readonly files: readonly { readonly path: string; readonly commits: number }[];
    }
  | { readonly kind: "none"; readonly why: "no_repository" | "not_allowed" | "unreadable" };

/** What an occurrence of a name does. */
export type UsageKind = "definition" | "import" | "call" | "write" | "reference";

/** An occurrence of a name in a file; line and column count from 1, columns in characters. */
export interface CodeUsage {
  readonly line: number;
  readonly column: number;
  readonly kind: UsageKind;
  /** What the name stands for: something of a module, of an object of a type that is not known, or a local name. */
  readonly binding: "module" | "member" | "local";
  /** The module that it comes from, as the file writes it. */
  readonly from?: string;
  /** It stands for what this file itself defines. */
  readonly isOwn?: true;
  /** Functions and types around it. */
  readonly within?: string;
  /** The line. */
  readonly text: string;
}

/** Usages in several files. */
export interface FoundUsages {
  readonly files: readonly { readonly path: string; readonly usages: readonly CodeUsage[] }[];
  /** Files of languages that are not known, or whose parsers are not installed: the name stands in them somehow. */
  readonly unknown: readonly string[];
  /** Files of which only parts could be parsed: usages in them may be missing. */
  readonly partly: readonly string[];
  /** Files that could not be read or parsed. */
  readonly unread: readonly string[];
}

/** Code for one call. `path` is the directory (or file) that analysis named; what else is named lies below it. */
export interface CodeAccess {
  /** Files that searches would look into, at most `filesMax`. */
  readonly list: (path: string, filesMax: number) => Promise<CodeListing>;
  /** The text of a file below `path`, of at most `bytesMax` bytes. */
  readonly text: (path: string, file: string, bytesMax: number) => Promise<CodeText>;
  /** Gives the texts of many files to `take`, in their order, and lets others have their turn between them. */
  readonly texts: (
    path: string,
    query: TextsQuery,
    take: (file: string, text: string) => void,
  ) => Promise<{ readonly read: number }>;
  /** What `symbol` is used for in `files` below `path`, by their syntax. */
  readonly usages: (path: string, symbol: string, files: readonly string[]) => Promise<FoundUsages>;
  /** Files below `path` that were changed together with `file`, which analysis named, too. */
  readonly changedTogether: (path: string, file: string) => Promise<ChangedTogether>;
}
