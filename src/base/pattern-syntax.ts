/**
 * Parses JavaScript's regular expressions into their syntax tree.
 *
 * The grammar is the package's; what a reader of the tree does not accept it refuses with `PatternProblem`. Callers
 * bound the length of what they parse. INVARIANT: what has a tree JavaScript accepts, too.
 */
import { type AST, RegExpParser, RegExpSyntaxError } from "@eslint-community/regexpp";

/** The nodes of the tree. */
export type { AST as PatternSyntax } from "@eslint-community/regexpp";

/** Why a pattern is refused: words that end a sentence about it. */
export class PatternProblem extends Error {}

const parser = new RegExpParser({ ecmaVersion: 2025 });

/** The tree of `source`. @throws PatternProblem when it is no regular expression */
export function parsePattern(source: string, unicode = false): AST.Pattern {
  try {
    return parser.parsePattern(source, 0, source.length, { unicode });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    const said = error.message.slice(`Invalid regular expression: /${source}/${unicode ? "u" : ""}: `.length);
    throw new PatternProblem(
      `it is no regular expression: ${said.charAt(0).toLowerCase()}${said.slice(1)} at character ${error.index + 1}`,
    );
  }
}

/** What `read` makes of a pattern, or the problem that it was refused with. */
export function orProblem<Read extends object>(
  read: () => Read,
): ({ readonly ok: true } & Read) | { readonly ok: false; readonly problem: string } {
  try {
    return { ok: true, ...read() };
  } catch (error) {
    if (error instanceof PatternProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** A quantifier as it is written behind its element: `{1,3}?`. */
export function quantifierText({ raw, element }: AST.Quantifier): string {
  return raw.slice(element.raw.length);
}
