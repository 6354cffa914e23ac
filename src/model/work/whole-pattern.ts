/** A pattern that a short text matches as a whole or not at all; trying it takes time in proportion to the text. */
export interface WholePattern {
  /** As the operator wrote it, without `^` and `$`. */
  readonly source: string;
  readonly matches: (text: string) => boolean;
}
