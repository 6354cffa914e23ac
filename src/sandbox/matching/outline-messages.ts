/** Defines the messages between an index and the program that outlines code. They hold no path. */
import type { Language } from "./languages.ts";

/** A node of an outline: a declaration, a comment, or what holds some; lines count from 1. */
export interface OutlineNode {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly isComment: boolean;
  /** The name that it declares. */
  readonly name?: string;
  readonly children: readonly OutlineNode[];
}

/** A file to outline. */
export interface OutlinedSource {
  readonly language: Pick<Language, "name" | "parser">;
  readonly source: string;
}

/** A question of several files. */
export interface OutlineRequest {
  readonly id: number;
  readonly outlined: readonly OutlinedSource[];
}

/** The answer: an outline for each file, `null` where its parser is not installed. */
export interface OutlineReply {
  readonly id: number;
  readonly outlines: readonly (OutlineNode | null)[];
}
