/** Limits of policies and configuration: files, examples, reloading, advice. */
import { KIB, MIB } from "./units.ts";

/** Decisions kept by the policy memo; the oldest go first. */
export const POLICY_MEMO_ENTRIES_MAX = 4096;
/** Bytes of one policy or configuration file. */
export const CONFIG_FILE_BYTES_MAX = MIB;
/** Bytes of a workspace's own configuration file: a stranger may have written it, and parsing takes more time than its size. */
export const WORKSPACE_CONFIG_BYTES_MAX = 16 * KIB;
/** Problems of a configuration file that one message names; the rest are counted. */
export const CONFIG_PROBLEMS_LISTED_MAX = 16;
/** Characters (UTF-16 code units) of one problem of a configuration file in a message. */
export const CONFIG_PROBLEM_CHARACTERS_MAX = 256;
/** Entries of one list in a configuration file: each pattern is tried on every path. */
export const CONFIG_LIST_ENTRIES_MAX = 256;
/** Workspaces that one kernel keeps open; each holds two descriptors. */
export const WORKSPACES_OPEN_MAX = 64;
/** Policies remembered as valid; the oldest go first. */
export const VALIDATED_POLICIES_MAX = 64;
/** Policy files in one directory. */
export const POLICY_FILES_MAX = 256;
/** Examples of all policies together: each is evaluated at load, which takes about a tenth of a millisecond. */
export const POLICY_EXAMPLES_MAX = 2048;
/** Examples judged, or recorded calls replayed, before others get their turn. */
export const POLICY_EXAMPLES_PER_TURN = 64;
/** Failing examples and faults of example files that one refusal lists; the rest are counted. */
export const POLICY_PROBLEMS_LISTED_MAX = 32;
/** Replaced policies that are kept for the calls that were decided by them; a call that outlives them all is refused. */
export const POLICY_RETIRED_MAX = 4;
/** Milliseconds between two looks at the configuration of a running kernel: a change is noticed within it. */
export const RELOAD_CHECK_MS = 1_000;
/** Milliseconds that the configuration must stay as it is before it is read: a change of several files is one change. */
export const RELOAD_SETTLE_MS = 100;
/** Looks at a configuration that keeps changing; then it is read as it is, and again once it is quiet. */
export const RELOAD_SETTLE_LOOKS_MAX = 20;
/** Changes that an explanation tries one upon the other before it says that nothing helps. */
export const ADVICE_STEPS_MAX = 12;
/** Workspaces that the operator trusts. */
export const TRUSTED_WORKSPACES_MAX = 1024;
/** Recorded entries that one comparison of policies looks at when the operator does not say. */
export const REPLAY_ENTRIES_DEFAULT = 100_000;
/** Changes that one comparison of policies lists; the rest are counted. */
export const REPLAY_CHANGES_LISTED_MAX = 1_000;
