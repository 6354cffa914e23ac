/**
 * A shell command as data: the programs it runs, the files its redirections touch, the hosts it opens.
 *
 * It trusts nothing of the text. INVARIANTS: it never throws and its work is bounded by the text's length; a text that
 * the grammar and bash might read differently, or that is too much, is a command that may do anything.
 */
import { parse } from "unbash";
import { KIB } from "../../../base/bytes.ts";
import { shellCharacters } from "../../../model/place/command.ts";
import { CommandReader } from "./command-reader.ts";
import type { Found } from "./found.ts";

/** Characters of a command that are looked through; a longer one may do anything, as far as policy can tell. */
export const COMMAND_PARSED_CHARACTERS_MAX = 32 * KIB;

/**
 * What is not seen, or seen as something else, by a person who is shown the command; bash gives none of it a meaning.
 */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}]--[\t\n ]]/v;

/** What a shell command does. */
export type ParsedCommand = Found;

/**
 * Reads `text` as bash would.
 * @param directory in which it runs, as the workspace names it
 */
export function parseCommand(text: string, directory = "."): ParsedCommand {
  const reader = new CommandReader(parse, shellCharacters(text));
  if (text.length > COMMAND_PARSED_CHARACTERS_MAX) {
    reader.doubt("too_much");
    return reader.found(text);
  }
  if (HIDDEN.test(text)) reader.doubt("hidden_characters");
  try {
    reader.read(text, directory);
  } catch {
    // A fault of the grammar must not become a way past policy: what it has not read may be anything.
    reader.doubt("unparsed");
  }
  return reader.found(text);
}
