/** Limits of searching: patterns, time, threads, ignore files. */
import { KIB, MIB } from "./units.ts";

/** Characters of a regular expression in a search (Brio: 1,000); compiling takes time and memory in proportion. */
export const SEARCH_REGEX_CHARACTERS_MAX = 1000;
/** Bytes of a text that is searched for as it is: blocks of lines, to see whether they are unique before an edit. */
export const SEARCH_LITERAL_BYTES_MAX = 64 * KIB;
/** Bytes of a file that is searched (Brio: 10 MB); larger ones are counted as skipped. */
export const SEARCH_FILE_BYTES_MAX = 10 * MIB;
/** Bytes at the beginning of a file in which a null byte makes it binary. */
export const SEARCH_BINARY_PROBE_BYTES = 8 * KIB;
/** Milliseconds of processor time that matching may take in one file (Flow: 100 ms). */
export const REGEX_BUDGET_MS = 100;
/** Milliseconds in one file of looking for where a match can be, before the engine looks itself: a good deal of the budget stays. */
export const SEARCH_PREFILTER_MS_MAX = 20;
/** Matches in a line or file of more than some 100 KiB that cannot be cut; more would not fit the budget of time either. */
export const SEARCH_MARKED_MATCHES_MAX = 2_000_000;
/** Milliseconds after which a thread that does not get on with its file is ended; a busy machine takes longer than the budget. */
export const SEARCH_STUCK_MS = 2_000;
/** Milliseconds of one search; what was not looked at by then is left out, and the answer says so. */
export const SEARCH_CALL_MS_MAX = 30_000;
/** Files that one search looks into. */
export const SEARCH_FILES_MAX = 200_000;
/** Directory entries that one search looks at. */
export const SEARCH_ENTRIES_SCANNED_MAX = 1_000_000;
/** Directory levels that a search enters; each holds a descriptor. */
export const SEARCH_DEPTH_MAX = 64;
/** Lines that one search returns at most. */
export const SEARCH_RESULTS_MAX = 1000;
/** Lines that one search returns when the call does not say. */
export const SEARCH_RESULTS_DEFAULT = 100;
/** Lines shown before and after each line that matches. */
export const SEARCH_CONTEXT_LINES_MAX = 10;
/** Characters shown of one line in a search. */
export const SEARCH_LINE_CHARACTERS_MAX = 500;
/** Files that one count lists with their own number; the others are in the sum. */
export const COUNT_FILES_LISTED_MAX = 1000;
/** Threads that search; more than the processors have cores gain nothing, more than these need too much memory. */
export const SEARCH_THREADS_MAX = 4;
/** Milliseconds after which threads that had nothing to do are ended, because each holds some 20 MiB. */
export const SEARCH_THREADS_IDLE_MS = 30_000;
/** Mebibytes of heap of one search thread. */
export const SEARCH_THREAD_HEAP_MIB = 128;
/** Files that a search thread gets at once: handing over costs as much as searching a few. */
export const SEARCH_BATCH_FILES = 64;
/** Batches of one search that wait or run; each holds the descriptors of its directories. */
export const SEARCH_BATCHES_PENDING_MAX = 16;
/** Directories that all searches of a process hold together for batches that wait or run; later batches wait. */
export const SEARCH_DIRECTORIES_HELD_MAX = 256;
/** Directories of one batch: a tree with a file in each must not need a descriptor for every file of a batch. */
export const SEARCH_BATCH_DIRECTORIES = 16;
/** Bytes of the regular expression engine after which its thread is ended once it is idle: the engine never gives memory back. */
export const SEARCH_ENGINE_BYTES_MAX = 64 * MIB;
/** Patterns that a search thread compiles until the same happens, because each leaves something behind. */
export const SEARCH_PATTERNS_COMPILED_MAX = 64;
/** Compiled patterns that a search thread keeps. */
export const SEARCH_PATTERNS_KEPT_MAX = 16;
/** Bytes of one `.gitignore`; the rest of a larger one is not read. */
export const IGNORE_FILE_BYTES_MAX = 64 * KIB;
/** Rules of one `.gitignore`: each is tried on every name. */
export const IGNORE_RULES_MAX = 1000;
/** Characters of a name up to which rules with many wildcards are tried: their time grows with a power of the length. */
export const IGNORE_WILDCARD_CHARACTERS_MAX = 48;
