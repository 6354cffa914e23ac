/** Limits of sessions, leases and the globs that they and zones are written with. */
import { KIB } from "./units.ts";

/** Milliseconds a new session lives when the operator says nothing: one working day. */
export const SESSION_LIFETIME_MS = 12 * 3_600_000;
/** Milliseconds a session or lease may live at most: thirty days. */
export const SESSION_LIFETIME_MAX_MS = 30 * 24 * 3_600_000;
/** Random bytes of a session token: 256 bits. */
export const TOKEN_BYTES = 32;
/** Depth of lease derivation; deeper chains mean a loop. */
export const LEASE_DEPTH_MAX = 16;
/** Characters of a glob that has wildcards: matching takes time in proportion to them times those of the path. */
export const GLOB_CHARACTERS_MAX = 1024;
/** Texts that the braces of one glob may stand for. */
export const GLOB_ALTERNATIVES_MAX = 256;
/** Characters of one glob with its braces written out. */
export const GLOB_EXPANDED_CHARACTERS_MAX = 8 * KIB;
/** Characters of all globs of one list of zone patterns, braces written out: every path of every call is tried on them. */
export const GLOB_LIST_CHARACTERS_MAX = 32 * KIB;
/** Milliseconds that one arming may last: a working day with a margin; who needs longer arms again, and says so. */
export const ARMING_MAX_MS = 24 * 3_600_000;
