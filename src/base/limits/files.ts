/** Limits of file access: locks, steps of reading and writing, links, listings, edits. */
import { KIB, MIB } from "./units.ts";

/** Bytes of a file that the edit engine loads. */
export const EDIT_FILE_BYTES_MAX = 64 * MIB;
/** Edits in one call of `edit_file`. */
export const EDITS_MAX = 256;
/** Entries that one listing returns at most. */
export const LIST_ENTRIES_MAX = 10_000;
/** Entries that one listing returns when the call does not say. */
export const LIST_ENTRIES_DEFAULT = 1000;
/** Directory levels that a recursive listing enters at most. */
export const LIST_DEPTH_MAX = 32;
/** Lines of a unified diff in an answer; the rest is counted. */
export const DIFF_LINES_MAX = 400;
/** Bytes that a name in a directory takes at least when it is counted what a command writes: a block of most file systems. */
export const FILE_BLOCK_BYTES = 4 * KIB;
/** Milliseconds between two looks at how much a command has written … */
export const SIZE_WATCH_MS = 200;
/** … or so many times as long as the last look took. */
export const SIZE_WATCH_SHARE = 4;
/** Milliseconds to wait for the lock of a file before `RESOURCE_BUSY` (Flow: 5 s). */
export const FILE_LOCK_WAIT_MS = 5_000;
/** Milliseconds after which a file lock counts as abandoned (Flow: 30 s). */
export const FILE_LOCK_STALE_MS = 30_000;
/** Calls of one process that wait for the same file's lock; more than that is a runaway client. */
export const FILE_LOCK_WAITERS_MAX = 1024;
/** Milliseconds between two looks at a lock that another process holds: the first pause … */
export const FILE_LOCK_POLL_MIN_MS = 2;
/** … and the longest one that the back-off reaches. */
export const FILE_LOCK_POLL_MAX_MS = 50;
/** Bytes that one file read takes without leaving the thread: below it the hand-over costs more than the read. */
export const SMALL_READ_BYTES_MAX = 256 * KIB;
/** Bytes of a read that is lent to its reader, in memory that the next such read uses again. */
export const LENT_BYTES_MAX = 64 * KIB;
/** Bytes of one step of a large read or write, between two looks at the cancellation signal. */
export const FILE_CHUNK_BYTES = MIB;
/** Attempts to open a path that others keep renaming or replacing; each lost race costs one. */
export const FILE_OPEN_ATTEMPTS_MAX = 128;
/** Symbolic links followed on one path; the operating system's own limit. */
export const LINKS_FOLLOWED_MAX = 40;
/** Path components looked at while explaining where a path leads. */
export const LINK_STEPS_MAX = 10_000;
/** Directory entries looked at for one listing, shown or not. */
export const LIST_ENTRIES_SCANNED_MAX = 1_000_000;
/** Directory entries that are looked at for what killed kernels left in a workspace. */
export const LEFT_FILES_ENTRIES_MAX = 5_000_000;
/** Matches that the edits of one call replace together. */
export const EDIT_MATCHES_MAX = 100_000;
/** Bytes that one edit call searches: file size times number of edits; hostile text costs less than a second then. */
export const EDIT_SCAN_BYTES_MAX = 256 * MIB;
/** Steps that the engine's own search may take in one edit call at worst; beyond it a slower search in linear time serves. */
export const EDIT_NATIVE_STEPS_MAX = 200_000_000;
/** Characters of one line in a diff; the rest of the line is counted. */
export const DIFF_LINE_CHARACTERS_MAX = 500;
