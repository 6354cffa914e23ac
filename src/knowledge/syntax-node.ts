/** A node of a syntax tree, as far as cutting a file into chunks looks at it. */
export interface SyntaxNode {
  /** Lines count from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly isComment: boolean;
  /** The name that it declares, if it declares one. */
  readonly name?: string;
  /** Named nodes directly below it, in order. */
  readonly children: readonly SyntaxNode[];
}
