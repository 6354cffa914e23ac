/**
 * Defines the code handle of tools: the files below a directory that a call names, and what they say as code.
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
  /** Files below `path` that were changed together with `file`, which analysis named, too. */
  readonly changedTogether: (path: string, file: string) => Promise<ChangedTogether>;
}
