/** Defines the events of a parsed text: calls, the text between them, and what is wrong with it. */

/** Where something stands; lines and columns count from 1, offsets from 0, all in UTF-16 code units. */
export interface TextPosition {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** A call that the text makes. */
export interface ToolInvocation extends TextPosition {
  readonly kind: "call";
  readonly name: string;
  /** Attributes, and the body under its argument's name. */
  readonly args: Readonly<Record<string, string>>;
}

/** What of the text is not a call, and why; it is not executed. */
export interface TextProblem extends TextPosition {
  readonly kind: "problem";
  readonly message: string;
}

/** What was found in a text, in its order. */
export type TextEvent = ToolInvocation | TextProblem | { readonly kind: "text"; readonly text: string };
