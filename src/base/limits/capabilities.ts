/** Limits of capabilities: danger patterns, what they are tried on, and operator overrides. */
import { KIB } from "./units.ts";

/** Characters (UTF-16 code units) of one danger pattern. */
export const DANGER_PATTERN_CHARACTERS_MAX = 1000;
/** Danger patterns of one tool. */
export const DANGER_PATTERNS_MAX = 64;
/** Nested groups of a danger pattern: reading one calls itself for each. */
export const DANGER_PATTERN_DEPTH_MAX = 16;
/** Characters that all danger patterns of a tool stand for once their repetitions are written out; each is a state of the engine. */
export const DANGER_PATTERN_STATES_MAX = 1024;
/** States times characters that one call may cost: at worst a fifth of a second, because a match cannot be interrupted. */
export const DANGER_STEPS_MAX = 4_194_304;
/** Characters of arguments that danger patterns are tried on, however few states they have; more of them ask. */
export const DANGER_TEXT_CHARACTERS_MAX = 256 * KIB;
/** Nested values of arguments that are looked through; deeper ones ask. */
export const DANGER_TEXT_DEPTH_MAX = 64;
/** Tools whose capability the operator may override. */
export const CAPABILITY_OVERRIDES_MAX = 256;
/** Characters of the name of a host (RFC 1035), with room for `*.`, or of a provider. */
export const HOST_CHARACTERS_MAX = 255;
/** Characters of a text that an operator's pattern for names and first lines is tried on. */
export const WHOLE_PATTERN_TEXT_CHARACTERS_MAX = 1024;
/** Patterns for names and first lines that are kept ready. */
export const WHOLE_PATTERNS_KEPT_MAX = 256;
