/**
 * Defines the knowledge handle of tools: finds the parts of a workspace's files that answer a question.
 *
 * Only what the call may read is found. Methods throw `ToolFailure` or `Refusal`.
 */

/** A question to the workspace's knowledge. */
export interface KnowledgeQuestion {
  readonly text: string;
  /** Parts that are answered at most. */
  readonly limit: number;
  /** Only files that match, as in a search. */
  readonly glob?: string;
}

/** A part of a file that was found; lines count from 1. */
export interface KnowledgePart {
  readonly path: string;
  readonly firstLine: number;
  readonly lastLine: number;
  /** The headings or the declaration that it is part of. */
  readonly title: string;
  /** The lines as they are now. */
  readonly text: string;
  /** Higher is better; comparable within one answer alone. */
  readonly score: number;
}

/** How far the index is. */
export interface KnowledgeState {
  /** `building`: some files are not in it yet, so that answers may miss parts. */
  readonly state: "ready" | "building";
  readonly filesIndexed: number;
  /** Files that are waiting to be indexed. */
  readonly filesLeft: number;
  /** Whether questions are also answered by meaning; absent where the operator names no model for it. */
  readonly vectors?: "ready" | "building" | "unavailable";
}

/** What was found, best first. */
export interface KnowledgeAnswer extends KnowledgeState {
  readonly parts: readonly KnowledgePart[];
  /** Whether there is more than was asked for. */
  readonly truncated: boolean;
}

/** The knowledge of one workspace, for one call. */
export interface KnowledgeAccess {
  readonly search: (path: string, question: KnowledgeQuestion) => Promise<KnowledgeAnswer>;
}
