/** Limits of redaction. */
import { KIB, MIB } from "./units.ts";

/** Characters beyond both ends of a range that is read which are searched for secrets that the range cuts. */
export const REDACTION_MARGIN_CHARACTERS = 4 * KIB;
/** Characters of the text of a refusal or failure: what a tool says of itself must not become a way to send output. */
export const REFUSAL_TEXT_CHARACTERS_MAX = 4 * KIB;
/** Sets of secrets of single calls whose tables one redactor keeps: a session's calls follow each other. */
export const REDACTION_EXTRA_TABLES_MAX = 64;
/** Findings that one stream lists; more are replaced all the same. */
export const REDACTION_FINDINGS_KEPT_MAX = 10_000;
/**
 * Changes of files with hidden text that may come to nothing within the window, for a principal in a workspace: an agent that
 * copied badly gets on, and who tries passwords gets through some ten thousand in a day.
 */
export const SECRET_GUESSES_MAX = 10;
/** Milliseconds of that window. */
export const SECRET_GUESS_WINDOW_MS = 60_000;
/** Principals in workspaces whose changes are counted at a time; beyond it whoever began longest ago is forgotten. */
export const SECRET_GUESSERS_MAX = 4096;
/** Redaction rules, and allowances, that an operator may add: each costs memory in every kernel. */
export const REDACTION_RULES_MAX = 256;
/** Characters of an example of such a rule. */
export const REDACTION_EXAMPLE_CHARACTERS_MAX = 4 * KIB;
/** Bytes that `handrail redact` takes from standard input: findings are listed with their place in all of it. */
export const REDACTION_INPUT_BYTES_MAX = 256 * MIB;
