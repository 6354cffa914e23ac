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

/** Why no language server has answered. */
export type NoServer =
  | "off"
  | "unknown_language"
  | "not_contained"
  | "not_installed"
  | "failed"
  | "timed_out"
  | "flooded"
  | "secret";

/** A language server has not answered: why, in words as well, and what could be done. */
export interface Unserved {
  readonly kind: "none";
  readonly server?: string;
  readonly why: NoServer;
  readonly message: string;
}

/** A place in a file, as usages have it. */
export interface CodePlace {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** A place that a server named, and what stands there. */
export interface ServedPlace extends CodePlace {
  /** What stands there, at most a name long. */
  readonly name: string;
  /** The line. */
  readonly text: string;
}

/** What a server knows of the name at a place. */
export interface ServedReferences {
  readonly kind: "served";
  readonly server: string;
  /** For each place that was asked about, in their order. */
  readonly answers: readonly {
    readonly definitions: readonly ServedPlace[];
    readonly references: readonly ServedPlace[];
  }[];
  /** Places in files that the call may not read, or that are none of the workspace's. */
  readonly hidden: number;
}

/** What is asked about names at places. All places are in files of one server. */
export interface ReferencesQuery {
  readonly symbol: string;
  readonly places: readonly CodePlace[];
  /** They are definitions by their syntax: nobody needs to be asked where the names are defined. */
  readonly areDefinitions?: boolean;
  /** Files that hold the name: what changed in them is told to the server first. */
  readonly holding: readonly string[];
}

/** What a server says is wrong at a place. */
export interface CodeDiagnostic {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly code?: string;
  readonly message: string;
}

/** Diagnostics of files. */
export interface FileDiagnostics {
  readonly diagnostics: readonly CodeDiagnostic[];
  /** Files that were looked at, with the server that did. */
  readonly looked: readonly { readonly path: string; readonly server: string }[];
  /** Files that no server has looked at, and why. */
  readonly unserved: readonly ({ readonly path: string } & Unserved)[];
}

/** A name to be given to what stands at a place. */
export interface RenameQuery extends ReferencesQuery {
  readonly newName: string;
}

/** Where a file is changed by a rename, in bytes of the file as it was. */
export interface RenamedFile {
  readonly path: string;
  /** BLAKE3-256 of the bytes that the places are about. */
  readonly digest: string;
  readonly changes: readonly { readonly start: number; readonly end: number; readonly content: string }[];
}

/** What a server proposes for a rename. */
export type ProposedRename =
  | { readonly kind: "proposed"; readonly server: string; readonly files: readonly RenamedFile[] }
  /** It would change what the call has not named, may not read, or is none of the workspace's. */
  | { readonly kind: "beyond"; readonly files: readonly string[]; readonly hidden: number }
  /** It would do more than put one name in place of the other, or says that this cannot be renamed. */
  | { readonly kind: "refused"; readonly message: string }
  | Unserved;

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
  /** What a language server knows of the names at places below `path`. */
  readonly references: (path: string, query: ReferencesQuery) => Promise<ServedReferences | Unserved>;
  /** What language servers say is wrong in files that analysis named. */
  readonly diagnostics: (files: readonly string[]) => Promise<FileDiagnostics>;
  /** Where a server would rename; every file of it was named by analysis as one that is written. */
  readonly rename: (query: RenameQuery) => Promise<ProposedRename>;
}
