/**
 * Defines the match handle of tools: finds what a regular expression or a syntax pattern matches in bytes.
 *
 * It works on bytes that the call was given already, and opens nothing. Secrets in them are seen as their markers, so
 * that nobody learns one piece by piece from what matches. Methods throw `ToolFailure`.
 */

/** What is sought, and what is to stand there instead or beside it. */
export interface MatchQuery {
  readonly mode: "regex" | "ast";
  readonly spec: string;
  /** With capture groups (`$1`, `${name}`) or metavariables (`$NAME`, `$$$ARGS`), which are filled in per match. */
  readonly content: string;
  /** By which name failures speak of the pattern and of the content. */
  readonly words: { readonly spec: string; readonly content: string };
  /** Of the pattern and the file, for `ast`; absent where the file's name says it. */
  readonly language?: string | undefined;
  /** The file as the call names it. */
  readonly path: string;
  /** Matches that are listed at most; all are counted up to one more than that. */
  readonly placesMax: number;
}

/** A match, in bytes, and the content for it. */
export interface MatchedPlace {
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array;
}

/** The matches, left to right and without overlap. */
export interface MatchAnswer {
  readonly places: readonly MatchedPlace[];
  /** Matches that touch hidden text; they are not among the places. */
  readonly hidden: number;
}

/** Finds matches in `bytes`. */
export type Match = (bytes: Uint8Array, query: MatchQuery) => Promise<MatchAnswer>;
