/** Defines the messages between the kernel and the program that matches code. They hold no path. */
import type { Language } from "./languages.ts";
import type { TextUsages } from "./usages/found-usage.ts";

/** A question; positions are characters of `source`. */
export interface SyntaxRequest {
  readonly id: number;
  readonly language: Pick<Language, "name" | "parser" | "wrap" | "fragments">;
  readonly source: string;
  readonly pattern: string;
  readonly content: string;
  readonly placesMax: number;
}

/** A match, and the content for it with its metavariables filled in. */
export interface SyntaxPlace {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

/** What came of it. */
export type SyntaxResult =
  | { readonly kind: "found"; readonly places: readonly SyntaxPlace[] }
  | { readonly kind: "invalid"; readonly problem: string }
  | { readonly kind: "bad_content"; readonly problem: string }
  /** The language's parser is not installed. */
  | { readonly kind: "missing" };

/** The answer. */
export type SyntaxReply = (SyntaxResult | UsagesResult) & { readonly id: number };

/** Asks what a name is used for in several texts. */
export interface UsagesRequest {
  readonly id: number;
  readonly symbol: string;
  readonly sources: readonly { readonly language: Pick<Language, "name" | "parser">; readonly source: string }[];
}

/** The usages of each text; none where the parser of its language is not installed. */
export interface UsagesResult {
  readonly kind: "usages";
  readonly found: readonly (TextUsages | undefined)[];
}
