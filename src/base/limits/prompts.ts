/** Limits of what a person is shown who is asked about a call. */
import { KIB } from "./units.ts";

/** Characters (UTF-16 code units) of one text among the arguments that a prompt shows; the rest is counted. */
export const PROMPT_TEXT_CHARACTERS_MAX = 2 * KIB;
/** Values of the arguments that a prompt shows, containers too: a person reads no more; the rest are counted. */
export const PROMPT_VALUES_MAX = 256;
/** Levels of nested arguments that a prompt shows. */
export const PROMPT_DEPTH_MAX = 8;
/** Accesses of a call that a prompt lists; the rest are counted. */
export const PROMPT_ACCESSES_MAX = 64;
