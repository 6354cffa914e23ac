/**
 * A gadget: a way of calling a program that does more than the program's name says.
 *
 * The lists beside this file are data, one file for each family of programs. Each row names the manual it was taken
 * from. What is not listed is plain use. INVARIANT: a row can only add a danger, never take one away.
 */
import { type CommandDanger, REASON_WORDS } from "../../../../model/place/command.ts";

/** What a gadget does, and how that is said to people. */
export const DEEDS = {
  starts: { danger: "argument_program", says: REASON_WORDS.argument_program[0] },
  runs: { danger: "inline_code", says: REASON_WORDS.inline_code[0] },
  loads: { danger: "loaded_code", says: REASON_WORDS.loaded_code[0] },
  leaves: { danger: "leaves_machine", says: REASON_WORDS.leaves_machine[0] },
  edits: { danger: "interactive", says: REASON_WORDS.interactive[0] },
} as const satisfies Readonly<Record<string, { readonly danger: CommandDanger; readonly says: string }>>;

/**
 * One row. A command is marked when one of `options`, `verbs`, `words`, `first`, `operands`, `input` or `always` holds.
 */
export interface Gadget {
  /** Names of programs, parted by blanks, without versions: `python` stands for `python3.12` as well. */
  readonly of: string;
  readonly does: keyof typeof DEEDS;
  /** Options, parted by blanks: letters also in groups and with their value joined, long names also cut short. */
  readonly options?: string;
  /** Values of `options` with which the row does not hold: those that name something of the program's own. */
  readonly plain?: RegExp;
  /** Sub-commands, parted by commas; blanks part their words: `config edit, open`. */
  readonly verbs?: string;
  /** An argument that matches. */
  readonly words?: RegExp;
  /** A first argument that matches. */
  readonly first?: RegExp;
  /** Any argument that is no option and no value of one of these options, which are parted by blanks. */
  readonly operands?: string;
  /** Something comes in; with a pattern, text that is written out there must match it. */
  readonly input?: true | RegExp;
  /** However it is called. */
  readonly always?: true;
  /** Options and sub-commands, parted by commas, with which the row does not hold. */
  readonly unless?: string;
  /**
   * Sub-commands, with their words parted by a blank, with which the row does not hold: those that are known to be
   * plain.
   */
  readonly unlessVerb?: RegExp;
  /** Options that may stand before such a sub-command, parted by blanks: those that take the next word end in `=`. */
  readonly leading?: string;
  /** What of the call it is, where neither an option nor a sub-command says it. */
  readonly by?: string;
  /** The program's own manual. */
  readonly source: string;
}

type Naming = "of" | "does" | "source";

/** Makes rows with one deed: of which programs, from which manual, and when they hold. */
function rowsOf(does: Gadget["does"]): (of: string, source: string, when: Omit<Gadget, Naming>) => Gadget {
  return (of, source, when) => ({ of, does, source, ...when });
}

/** A row of programs that start what an argument names. */
export const starts = rowsOf("starts");
/** A row of programs that run what an argument spells out. */
export const runs = rowsOf("runs");
/** A row of programs that load code into themselves. */
export const loads = rowsOf("loads");
/** A row of programs that act outside of the machine. */
export const leaves = rowsOf("leaves");
/** A row of programs that are used interactively. */
export const edits = rowsOf("edits");

/** Short options that take a value, by program: what is joined to them is no group of letters. */
export type ValueLetters = Readonly<Record<string, string>>;
