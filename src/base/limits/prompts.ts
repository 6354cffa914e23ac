/** Limits of what a person is shown who is asked about a call. */
import { KIB, MIB } from "./units.ts";

/** Characters (UTF-16 code units) of one text among the arguments that a prompt shows; the rest is counted. */
export const PROMPT_TEXT_CHARACTERS_MAX = 2 * KIB;
/** Characters of all arguments that a prompt shows together. */
export const PROMPT_ARGUMENTS_CHARACTERS_MAX = 16 * KIB;
/** Arguments that a prompt names; the rest are counted. */
export const PROMPT_ARGUMENTS_MAX = 64;
/** Values of the arguments that a prompt shows, containers too: a person reads no more; the rest are counted. */
export const PROMPT_VALUES_MAX = 256;
/** Levels of nested arguments that a prompt shows. */
export const PROMPT_DEPTH_MAX = 8;
/** Accesses of a call that a prompt lists; the rest are counted. */
export const PROMPT_ACCESSES_MAX = 64;
/** Bytes, as JSON, that the accesses of a prompt take. Together with arguments and diffs they stay below what one request may have. */
export const PROMPT_ACCESSES_BYTES_MAX = 96 * KIB;
/** Files whose change a prompt shows; the rest are counted. */
export const PROMPT_CHANGES_MAX = 32;
/** Bytes of each version of a file that is compared for a prompt; a larger one is named with its size alone. */
export const PROMPT_FILE_BYTES_MAX = MIB;
/** Bytes, as JSON, that the changes of a prompt take. */
export const PROMPT_CHANGES_BYTES_MAX = 224 * KIB;
/** Lines of all diffs of one prompt together; the rest are counted. */
export const PROMPT_DIFF_LINES_MAX = 2_000;
/** Bytes of one line of a prompt's diff; the rest is counted. */
export const PROMPT_DIFF_LINE_BYTES_MAX = 1_000;
/** Lines that are looked for as inserted or deleted one by one; versions that differ in more are one change. */
export const LINE_COMPARISON_EDITS_MAX = 1_000;
/** Lines that one comparison looks at, those again that it comes back to; a tenth of a second. */
export const LINE_COMPARISON_STEPS_MAX = 20_000_000;
