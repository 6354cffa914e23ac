/**
 * Defines a pattern that must match a short text as a whole.
 *
 * Matching takes time in proportion to the length of the text.
 */
export interface WholePattern {
  /** As the operator wrote it, without `^` and `$`. */
  readonly source: string;
  readonly matches: (text: string) => boolean;
}
