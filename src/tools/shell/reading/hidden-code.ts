/**
 * Detects text that stands in a line as data and that bash may take for code.
 *
 * Where bash evaluates an expression, the value of a variable is an expression too, and a substitution inside of a
 * subscript is run.
 *
 * INVARIANT: it is asked about every part of the line. Text that only comes together when it runs, in other ways than
 * from two variables, is not seen.
 */
import type { SyntaxNode } from "unbash";
import { readWord } from "../words/words.ts";

/** What bash would run if it took a text for code. */
const SUBSTITUTION = /\$\(|`|[<>]\(|\$\{[ |\n]/;
/** The same in a here-document that is not quoted, in which a substitution that is no data is run at once. */
const ESCAPED_SUBSTITUTION = /\\[$`]/;
/** Halves of one, for the case that variables are joined. */
const BEGINNING = /[$<>]$/;
const END = /^\(/;

/** Builtins that take names or numbers for expressions. */
const EVALUATORS = new Set(
  "let declare typeset local export readonly unset read test [ wait mapfile readarray".split(" "),
);
/** Variables whose values are numbers: what is assigned to them is evaluated. */
const NUMBERS = new Set("RANDOM SRANDOM OPTIND HISTCMD SECONDS LINENO BASHPID EPOCHSECONDS PPID UID EUID".split(" "));

/** Looks at the parts of one line. */
export class HiddenCode {
  #isThere = false;
  #begins = false;
  #ends = false;
  #evaluates = false;

  /** Whether something may be run that stands there as data. */
  get isPossible(): boolean {
    return this.#evaluates && (this.#isThere || (this.#begins && this.#ends));
  }

  /** A builtin with its arguments. */
  command(name: string, args: readonly { readonly text: string }[]): void {
    if (EVALUATORS.has(name) || (name === "printf" && args[0]?.text.startsWith("-v") === true)) this.#evaluates = true;
  }

  /** A variable that gets a value. */
  sets(name: string): void {
    if (NUMBERS.has(name)) this.#evaluates = true;
  }

  /** A part of the line. */
  part(node: SyntaxNode): void {
    if (evaluates(node)) this.#evaluates = true;
    if (node.type === "HereDoc")
      this.#data(node.body.text, node.delimiter?.quoted === true ? SUBSTITUTION : ESCAPED_SUBSTITUTION);
    if (node.type === "Assignment" && node.value.type === "Word") this.#half(readWord(node.value).text);
    if (node.type !== "Word") return;
    const { known, text } = readWord(node);
    if (known) this.#data(text, SUBSTITUTION);
  }

  #data(text: string, substitution: RegExp): void {
    if (substitution.test(text)) this.#isThere = true;
  }

  #half(text: string): void {
    if (BEGINNING.test(text)) this.#begins = true;
    if (END.test(text)) this.#ends = true;
  }
}

/** Whether something is taken for an expression there. */
function evaluates(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Assignment":
      return (
        node.index !== undefined ||
        (node.value.type === "ArrayValue" && node.value.elements.some(({ text }) => /^\[(?!\d+\])/.test(text)))
      );
    case "ArithmeticWord":
      return !/^\d*$/.test(node.value);
    case "TestBinary":
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator);
    case "TestUnary":
      return node.operator === "-v" || node.operator === "-R";
    case "ParameterExpansion":
      if (node.prefix === "!" || (node.index !== undefined && !/^(?:\d+|[@*])$/.test(node.index.text))) return true;
      return node.operation?.type === "Slice" && !/:\s*-?\d+(?:\s*:\s*-?\d+)?\s*\}$/.test(node.text);
    default:
      return false;
  }
}
