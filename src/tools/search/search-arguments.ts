/** Arguments that the searching tools share, and how they become a query. */
import { z } from "zod";
import { KIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonValue } from "../../base/json.ts";
import { MAX_PATH_LEN } from "../../base/limits.ts";
import { hasMoreCharacters } from "../../model/outcome/constraints.ts";
import type { SearchPattern, SearchQuery, SkippedFiles } from "../../model/work/search.ts";
import { escapeExpression } from "../../text/escaped-expression.ts";
import { pathArgument, textArgument } from "../kit/argument.ts";
import { integer } from "../kit/result-schema.ts";

/** Characters of a regular expression in a search (Brio: 1,000); compiling takes time and memory in proportion. */
const SEARCH_REGEX_CHARACTERS_MAX = 1000;
/** Bytes of a text that is searched for as it is: blocks of lines, to see whether they are unique before an edit. */
const SEARCH_LITERAL_BYTES_MAX = 64 * KIB;

const REGEX_DESCRIPTION =
  `What to search for: a regular expression in RE2 syntax, at most ${SEARCH_REGEX_CHARACTERS_MAX} characters. ` +
  "`^` and `$` are the ends of lines; `\\n` may be in it. With `literal` the text as it is.";

/** The arguments of every search. */
export const SEARCH_ARGUMENTS = {
  path: pathArgument("File or directory to search, relative to the workspace root; `.` is the root itself."),
  regex: textArgument(REGEX_DESCRIPTION, SEARCH_LITERAL_BYTES_MAX)
    .refine((text) => text !== "", {
      params: { rule: "required" },
      message: "must not be empty; say what to search for",
    })
    .meta({ description: REGEX_DESCRIPTION, minLength: 1 }),
  recursive: z.boolean().optional().meta({ description: "Search the directories below too. Default true." }),
  literal: z.boolean().optional().meta({ description: "Take `regex` as plain text. Default false." }),
  case: z.enum(["sensitive", "insensitive", "smart"]).optional().meta({
    description: "`smart` ignores case unless `regex` has a capital letter. Default `sensitive`.",
  }),
  word: z.boolean().optional().meta({ description: "Match whole words alone. Default false." }),
  multiline: z.boolean().optional().meta({ description: "Let `.` match line ends too. Default false." }),
  glob: globArgument(
    "Only files that match, such as `*.ts`, `*.{c,h}` or `src/**/*.py`. With a `/` it is matched from the searched directory.",
  ),
  exclude: globArgument("Not the files that match, such as `*.min.js` or `dist/**`; as `glob`."),
};

function globArgument(description: string) {
  return z
    .string()
    .min(1, "must not be empty; leave it out to search all files")
    .refine((text) => !hasMoreCharacters(text, MAX_PATH_LEN), {
      params: { rule: "max_length" },
      message: `is longer than ${MAX_PATH_LEN} characters`,
    })
    .optional()
    .meta({ description });
}

interface SearchArguments {
  readonly regex: string;
  readonly recursive?: boolean | undefined;
  readonly literal?: boolean | undefined;
  readonly case?: "sensitive" | "insensitive" | "smart" | undefined;
  readonly word?: boolean | undefined;
  readonly multiline?: boolean | undefined;
  readonly glob?: string | undefined;
  readonly exclude?: string | undefined;
}

/** Whether the expression is short enough; plain text may be longer. */
export function hasUsableLength(args: SearchArguments): boolean {
  const { regex, literal } = args;
  return (
    (literal === true && flagsOf(args) === "" && args.word !== true) ||
    !hasMoreCharacters(regex, SEARCH_REGEX_CHARACTERS_MAX)
  );
}

/** What is said of one that is not. */
export const TOO_LONG = {
  path: ["regex"],
  params: { rule: "max_length" },
  message: `is longer than the ${SEARCH_REGEX_CHARACTERS_MAX} characters of a regular expression; shorten it, or set \`literal\``,
};

/** The query that the arguments ask for. */
export function queryOf(args: SearchArguments): SearchQuery {
  const { recursive, glob, exclude } = args;
  return {
    pattern: patternOf(args),
    recursive: recursive ?? true,
    ...(glob !== undefined && { glob }),
    ...(exclude !== undefined && { exclude }),
  };
}

function patternOf(args: SearchArguments): SearchPattern {
  const { regex, literal, word } = args;
  const flags = flagsOf(args);
  if (flags === "" && word !== true) return { kind: literal ? "literal" : "regex", text: regex };
  const text = literal ? escapeExpression(regex) : regex;
  return { kind: "regex", text: `${flags}${word === true ? `\\b(?:${text})\\b` : text}` };
}

/** The flags that stand before the expression. */
function flagsOf({ regex, case: which, literal, multiline }: SearchArguments): string {
  const ignoresCase = which === "insensitive" || (which === "smart" && !hasCapital(regex, literal === true));
  const flags = `${ignoresCase ? "i" : ""}${multiline === true && literal !== true ? "s" : ""}`;
  return flags === "" ? "" : `(?${flags})`;
}

/** Whether a capital letter is sought; one behind a backslash, as in `\\W`, stands for something else. */
function hasCapital(regex: string, isLiteral: boolean): boolean {
  return /\p{Lu}/u.test(isLiteral ? regex : regex.replaceAll(/\\(?:[pP]\{[^}]*\}|.)/g, ""));
}

/** The schema of what was left out. */
export const SKIPPED_SCHEMA = {
  type: "object",
  description: "Files that were left out, by reason.",
  properties: {
    binary: integer("Files with null bytes."),
    too_large: integer(),
    unreadable: integer(),
    vanished: integer("Removed while the search ran."),
  },
  required: ["binary", "too_large", "unreadable", "vanished"],
  additionalProperties: false,
};

/** What was left out, as the tools return it. */
export function skippedOf({ binary, tooLarge, unreadable, vanished }: SkippedFiles) {
  return { binary, too_large: tooLarge, unreadable, vanished };
}

/** What was left out, in words: nothing when that is nothing. */
export function skippedText(skipped: JsonValue | undefined): string {
  if (!isJsonObject(skipped)) return "";
  const counts = Object.entries(skipped).filter(([, count]) => count !== 0);
  return counts.length === 0 ? "" : `; left out: ${counts.map(([why, count]) => `${String(count)} ${why}`).join(", ")}`;
}
