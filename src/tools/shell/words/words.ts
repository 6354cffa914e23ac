/**
 * Words of a shell command: what the shell makes of them, as far as the text alone says it.
 *
 * INVARIANT: a word that is `known` reaches the program as `text` in every environment, but for what `expands` says; a
 * differential test with bash holds that.
 */
import type { Assignment, DoubleQuotedChild, HereDoc, Redirection, Word, WordPart } from "unbash";
import { quoted } from "../../../model/place/command.ts";

/** A word. */
export interface ShellWord {
  /** What the program gets where the word is known; else the word as it is written. */
  readonly text: string;
  readonly known: boolean;
  /** A pattern for file names or a `~` that is not quoted: other words may take its place. */
  readonly expands: boolean;
  /**
   * How it is written out in a command: quoted where it is known, and as it stands where the shell makes something of
   * it.
   */
  readonly shown: string;
}

/** Whether other words may take its place than one: what the shell splits, or takes out of a list. */
export function mayBeMany({ known, expands, text }: ShellWord): boolean {
  return expands || (!known && !/^[\w./=:-]*"[^"@]*"$/.test(text));
}

/** A word of the kernel's own. */
export function plainWord(text: string): ShellWord {
  return { text, known: true, expands: false, shown: quoted(text) };
}

/** Whether the text of `word` is what the program gets, whatever files there are. */
export function isFixed(word: ShellWord | undefined): word is ShellWord {
  return word?.known === true && !word.expands;
}

/** A pattern that needs no quotes. */
const PATTERN = /^[\w@%+=:,./*?[\]~!^-]+$/;

/**
 * Where a `~` that is not quoted stands for a directory: also in what only looks like an assignment, as `dd of=~/x`
 * does.
 */
const HOME = /(?:^|[=:])~/;

/** The word as the shell reads it. */
export function readWord(word: Word): ShellWord {
  const parts = word.parts;
  const bare = bareText(word);
  const expands = HOME.test(bare) || (parts?.some(({ type }) => type === "Glob") ?? false);
  // a backslash before the end of the text is kept or dropped, by what is before it
  const isWhole = !bare.endsWith("\\");
  const known = (parts?.every(isKnownPart) ?? true) && !mayHoldList(bare, word.text) && isWhole && !VARIABLE.test(bare);
  const text = known ? word.value : word.text;
  const asItStands = !known || (expands && !PATTERN.test(text)) ? word.text : text;
  return { text, known, expands, shown: known && !expands ? quoted(text) : asItStands };
}

/** An assignment that stands where an argument does, as `export` gets it. */
export function readAssignment(assignment: Assignment): ShellWord {
  const { value, text } = assignment;
  if (value.type === "ArrayValue" || assignment.index !== undefined)
    return { text, known: false, expands: false, shown: text };
  const read = readWord(value);
  const name = `${assignment.name}${assignment.append === true ? "+=" : "="}`;
  return read.known ? { ...read, text: name + read.text, shown: name + read.shown } : { ...read, text, shown: text };
}

/** Kinds of parts that are not quoted. */
const BARE: ReadonlySet<WordPart["type"]> = new Set(["Literal", "Glob"]);
/** The same with lists in braces, which may be quoted in places. */
const SPREAD: typeof BARE = new Set([...BARE, "BraceExpansion"]);

/** A sequence in braces from letters of one case to the other: between them lie `\` and the backquote. */
const MAKES_BACKQUOTES = /\{(?:[a-z]\.\.[A-Z]|[A-Z]\.\.[a-z])(?:\}|\.\.)/;
/** A substitution, which is never a part of a word that stands there as text. */
const SUBSTITUTION = /[<>$]\(|`|\$[{[]/;
/** What makes a variable of the sign before it, also across the end of a line. */
const VARIABLE = /\$[\w@*#?!$-]/;
/** What ends a word unless it is quoted. */
const END_OF_WORD = /[|&;()<>\s]/;

/** What may stand right behind a word. */
const AFTER_WORD = /^[|&;()<>\s`]?$/;

/**
 * Whether bash may run something in the word that the grammar took for text; `{a..Z}id{a..Z}` makes backquotes, and
 * runs `id`.
 */
export function hidesCode(word: Word): boolean {
  return (
    SUBSTITUTION.test(bareText(word)) || (word.text.includes("..") && MAKES_BACKQUOTES.test(bareText(word, SPREAD)))
  );
}

/**
 * Whether bash reads the parts of a command as other words than these: one goes on, or stands right beside the next.
 */
export function isTakenApart(parts: readonly (Assignment | Redirection | Word)[], source: string): boolean {
  return parts.some((part, index) => {
    if (part.type !== "Word" && part.type !== "Assignment") return false;
    if (part.type === "Word" && END_OF_WORD.test(bareText(part))) return true;
    return part.pos === parts[index - 1]?.end || !AFTER_WORD.test(source.charAt(part.end));
  });
}

/** The text of a here-document, unless it is only known at run time. */
export function hereDocumentText(document: HereDoc): string | undefined {
  const { body, delimiter, operator } = document;
  if (delimiter === undefined || document.closing === undefined) return undefined;
  if (!delimiter.quoted && (body.text.includes("\\") || body.parts?.some(({ type }) => type !== "Literal")))
    return undefined;
  return operator === "<<-" ? body.text.replaceAll(/^\t+/gm, "") : body.text;
}

/** What of a word is not quoted: each quoted character and each part of another kind is an `x` there. */
function bareText({ text, parts }: Word, kinds = BARE): string {
  const bare = (literal: string) => literal.replaceAll("\\\n", "").replaceAll(/\\./gs, "x");
  return parts === undefined
    ? bare(text)
    : parts.map((part) => (kinds.has(part.type) ? bare(part.text) : "x")).join("");
}

/**
 * Whether bash may take a list in braces apart there. A bracket that was closed without a comma does not end one for it
 * (`{a},}` is `a}` and nothing), so that what stands between does not matter; a sequence loses its brackets with a part
 * that is quoted.
 */
function mayHoldList(bare: string, text: string): boolean {
  const open = bare.indexOf("{");
  if (open === -1) return false;
  const isList = (separator: string) =>
    bare.includes(separator, open) && bare.includes("}", bare.indexOf(separator, open));
  return isList(",") || (bare !== text && isList(".."));
}

function isKnownPart(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return true;
    case "Glob":
      return part.kind !== "bracket" || part.parts.every(isKnownPart);
    case "DoubleQuoted":
      return part.parts.every((child: DoubleQuotedChild) => child.type === "Literal");
    case "AnsiCQuoted":
      return isPlainAnsi(part.text, part.value);
    default:
      return false;
  }
}

/** Escapes whose meaning depends on the locale, which end the word, or which are none, are left to the shell. */
function isPlainAnsi(text: string, value: string): boolean {
  return !/\\(?:0|x0|x\{|u0|U0|c|\n)/.test(text) && /^[\t\n -~]*$/.test(value);
}
