/** Holds the limits of what redaction looks through. */
import { KIB } from "../../base/bytes.ts";

/** Characters (UTF-16 code units) of one text among the arguments that a prompt shows; the rest is counted. */
export const PROMPT_TEXT_CHARACTERS_MAX = 2 * KIB;
/** Characters (or bytes) that are looked through without a pause; longer texts are looked through in slices. */
export const AT_ONCE_CHARACTERS_MAX = 256 * KIB;
/** Characters of the text of a refusal or failure: what a tool says of itself must not become a way to send output. */
export const REFUSAL_TEXT_CHARACTERS_MAX = 4 * KIB;

/** Characters of a longer text that one call remembers. */
export const LAST_CHARACTERS_MAX = 512;

/** Characters up to which the length of a text is taken for that of its bytes. */
export const SHORT = 64;
