/** Holds the limits of looking through a shell command before it runs. */
import { KIB } from "../../../base/bytes.ts";

/**
 * Commands of one line that policy is asked about, each for some tenth of a millisecond; in a line with more, anything
 * may run.
 */
export const COMMANDS_PER_LINE_MAX = 256;
/** Levels of commands in commands (`sh -c`, substitutions, groups) that are followed. */
export const COMMAND_DEPTH_MAX = 24;
/** Characters of a command that a refusal, a prompt or evidence repeats where it was not understood. */
export const COMMAND_SHOWN_CHARACTERS_MAX = 2 * KIB;
