/** Limits of looking through a shell command before it runs. */
import { KIB } from "./units.ts";

/** Characters of a command that are looked through; a longer one may do anything, as far as policy can tell. */
export const COMMAND_PARSED_CHARACTERS_MAX = 32 * KIB;
/** Commands of one line that policy is asked about, each for some tenth of a millisecond; in a line with more, anything may run. */
export const COMMANDS_PER_LINE_MAX = 256;
/** Levels of commands in commands (`sh -c`, substitutions, groups) that are followed. */
export const COMMAND_DEPTH_MAX = 24;
/** Directories in which a command of a line may find itself after several `cd`. */
export const COMMAND_DIRECTORIES_MAX = 8;
/** Characters of a command that a refusal, a prompt or evidence repeats where it was not understood. */
export const COMMAND_SHOWN_CHARACTERS_MAX = 2 * KIB;
