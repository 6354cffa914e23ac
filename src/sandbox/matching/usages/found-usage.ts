/** Describes an occurrence of a name in a text. */

/** What an occurrence of a name does. */
export type UsageKind = "definition" | "import" | "call" | "write" | "reference";

/** An occurrence of a name; positions are characters. */
export interface FoundUsage {
  readonly start: number;
  readonly end: number;
  readonly kind: UsageKind;
  /**
   * What the name stands for: something of a module, of an object whose type is not known, or of a function or block.
   */
  readonly binding: "module" | "member" | "local";
  /** The module that it comes from, as the file's import writes it. */
  readonly from?: string;
  /** It stands for what the file itself defines. */
  readonly isOwn?: true;
  /** Functions and types around it, such as `Cart.add`. */
  readonly within?: string;
}

/** The usages of one text. */
export interface TextUsages {
  readonly usages: readonly FoundUsage[];
  /** Parts of the text are no syntax that the parser knows: some usages may be missing. */
  readonly isPartly: boolean;
}
