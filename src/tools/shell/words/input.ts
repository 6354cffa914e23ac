/**
 * Determines a command's standard input from its redirections.
 *
 * Text that stands in the line is known, and everything else is not.
 */
import type { HereString, Redirection } from "unbash";
import { hereDocumentText, isFixed, readWord } from "./words.ts";

/** What a command reads from its standard input, as far as the line says it. */
export type Input =
  | { readonly kind: "none" }
  /** Text that stands in the line: a here-document, a here-string. */
  | { readonly kind: "text"; readonly text: string }
  /** A pipe, a file, or text that is only known at run time. */
  | { readonly kind: "other" };

/** What a redirection gives to a command to read; `undefined` for one that takes its output. */
export function inputOf(redirection: Redirection): Input | undefined {
  if (redirection.type === "HereDoc") return textInput(hereDocumentText(redirection));
  if (redirection.type === "HereString") return textInput(hereString(redirection));
  return redirection.operator.startsWith("<") ? { kind: "other" } : undefined;
}

function textInput(text: string | undefined): Input {
  return text === undefined ? { kind: "other" } : { kind: "text", text };
}

function hereString({ target }: HereString): string | undefined {
  const word = target === undefined ? undefined : readWord(target);
  return isFixed(word) ? word.text : undefined;
}
