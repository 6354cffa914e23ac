/** Limits of repositories and of runs of git. */
import { KIB, MIB } from "./units.ts";

/** Bytes of a repository's settings, and of other small files of it, that are looked at. */
export const GIT_FILE_BYTES_MAX = 64 * KIB;
/** Bytes of settings that are handed to git: they go through a pipe that nobody reads before it is full. */
export const GIT_SETTINGS_BYTES_MAX = 32 * KIB;
/** Bytes of the list of packed references that are looked at. */
export const GIT_PACKED_REFS_BYTES_MAX = 8 * MIB;
/** Symbolic references that are followed one after another. */
export const GIT_SYMBOLIC_REFS_MAX = 5;
/** Bytes that one run of git may put out; a call that wants more has to be narrowed. */
export const GIT_OUTPUT_BYTES_MAX = 8 * MIB;
/** Bytes of messages of git that are kept. */
export const GIT_MESSAGE_BYTES_MAX = 16 * KIB;
/** Files that a command can leave out by name, and that are staged by one command. */
export const GIT_PATHS_PER_RUN_MAX = 1000;
/** Commits that a log shows when the call does not say. */
export const GIT_LOG_COMMITS = 50;
/** Commits that a log shows at most. */
export const GIT_LOG_COMMITS_MAX = 10_000;
/** Times that git is asked which files a log is about, because those that were left out let other commits in … */
export const GIT_LOG_LISTINGS_MAX = 8;
/** … each time of so many times more commits. */
export const GIT_LOG_LISTING_GROWTH = 8;
/** Commits with hidden text in their messages that a search passes over before it finds fewer than are wanted. */
export const GIT_LOG_HIDDEN_MATCHES_MAX = 1000;
/** Characters of the first line of a message. */
export const GIT_SUBJECT_CHARACTERS_MAX = 72;
/** Bytes of a message. */
export const GIT_MESSAGE_LENGTH_MAX = 16 * KIB;
/** Files or settings that a message names one by one. */
export const GIT_NAMED_MAX = 20;
/** Patterns of protected branches in one list of settings. */
export const GIT_PROTECTED_BRANCHES_MAX = 64;
/** Bytes of the names of a history's files that are looked through; a repository with more is hidden from commands. */
export const GIT_HISTORY_BYTES_MAX = 256 * MIB;
/** Milliseconds that looking through a history may take; a repository that takes longer is hidden from commands. */
export const GIT_HISTORY_TIMEOUT_MS = 60_000;
/** Names of loose objects of a repository that are remembered; the history of one with more is looked through anew after each change. */
export const GIT_LOOSE_OBJECTS_KEPT_MAX = 20_000;
/** Files beside packs that are looked at; the history of a repository with more is looked through anew after each change. */
export const GIT_PACKS_KEPT_MAX = 4096;
/** Working trees that share a repository; one with more is hidden from commands. */
export const GIT_WORKTREES_MAX = 1000;
/** Objects that git is told one by one to look through; where more are new, it looks through the whole history. */
export const GIT_NEW_OBJECTS_MAX = 15_000;
/** Objects that one argument of git's names: arguments have at most 128 KiB. */
export const GIT_OBJECTS_PER_ARGUMENT = 1500;
/** Times that a history is looked through in a row because it has grown meanwhile; one that does not stand still is hidden. */
export const GIT_HISTORY_TURNS_MAX = 3;
/** Repositories of a workspace whose histories are looked through for a command; further ones are hidden. */
export const GIT_REPOSITORIES_LOOKED_AT_MAX = 64;
/** Bytes of a path in a history. */
export const GIT_PATH_BYTES_MAX = 64 * KIB;
/** Bytes of a reference's name. */
export const GIT_REF_BYTES_MAX = 250;
/** Credentials for remotes that the operator can name. */
export const GIT_CREDENTIALS_MAX = 64;
/** Servers outside of the public internet that the operator can name. */
export const GIT_PRIVATE_HOSTS_MAX = 64;
/** Bytes of a file with a password. */
export const GIT_PASSWORD_BYTES_MAX = 8 * KIB;
/** Characters of a password at least: a shorter one could not be hidden in what git says. */
export const GIT_PASSWORD_CHARACTERS_MIN = 6;
/** Passwords that are hidden at once: those of now, and as many of before as fit. */
export const GIT_PASSWORDS_HIDDEN_MAX = 256;
/** Bytes of a file with certificates. */
export const GIT_AUTHORITIES_BYTES_MAX = 4 * MIB;
/** Milliseconds that a run of git which reaches a remote may take. */
export const GIT_REMOTE_TIMEOUT_MS = 600_000;
/** Megabytes that a run of git may receive from a remote where the operator does not say: as much as one file may have. */
export const GIT_RECEIVED_MB = 1024;
/** Megabytes that such a run, and what is merged of it, may write where the operator does not say: packed, files take a quarter or less. */
export const GIT_WRITTEN_MB = 4096;
/** Milliseconds that half-made files of a run of git have to stay as they are before they are removed: another git may be writing them. */
export const GIT_LEFTOVERS_WAIT_MS = 1000;
/** Seconds that a remote may say nothing before git gives up. */
export const GIT_REMOTE_SILENCE_SECONDS = 60;
