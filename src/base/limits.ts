/**
 * Every limit of the kernel in one place: loops, queues, buffers, waits and inputs are bounded by a constant from here.
 *
 * Each constant names its unit last (`Bytes`, `Ms`, `Max` for counts) and says why it has its value. The first group
 * keeps the names of the APM2 tool protocol, because that protocol's table of validation constants is normative.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Characters (code points) in an identifier (INV-0001, 0002, 0003, 0025, 0026, 0030, 0032). */
export const MAX_ID_LEN = 256;
/** Characters (code points) in a path (INV-0005, 0009, 0013, 0017, 0024). */
export const MAX_PATH_LEN = 4096;
/** Bytes that one read may ask for (INV-0008). */
export const MAX_READ_LIMIT = GIB;
/** Bytes of content in one write (INV-0011). */
export const MAX_WRITE_SIZE = 100 * MIB;
/** Bytes of the old or the new content of one edit (INV-0014, 0015). */
export const MAX_EDIT_SIZE = 10 * MIB;
/** Bytes of a shell command (INV-0016). */
export const MAX_COMMAND_LEN = MIB;
/** Milliseconds a command may ask to run (INV-0018). */
export const MAX_TIMEOUT_MS = 3_600_000;
/** Bytes of one `env`, `args` or `metadata` entry (INV-0020, 0023, 0034). */
export const MAX_ARG_LEN = 32 * KIB;
/** Tokens one inference call may ask for (INV-0028). */
export const MAX_TOKENS = 1_000_000;
/** Bytes of a BLAKE3-256 hash (INV-0027, 0029, 0031). */
export const HASH_SIZE = 32;
/** Entries of a repeated field (INV-0019, 0022, 0033). */
export const MAX_REPEATED_ITEMS = 1000;

/** Bytes of one frame or message: the largest write plus room for its envelope. */
export const FRAME_BYTES_MAX = MAX_WRITE_SIZE + 64 * KIB;
/** Nested messages or JSON containers: deeper input is an attack on the parser, no tool needs it. */
export const NESTING_DEPTH_MAX = 64;
/** Fields in one encoded message, entries and unknown ones included: each costs far more memory than its two bytes. */
export const WIRE_FIELDS_MAX = 65_536;
/** Values in one JSON text from a stranger: each costs far more memory than its two bytes. */
export const JSON_VALUES_MAX = 1_000_000;
/** Values in the arguments of one call: each that does not fit its schema becomes a problem of its own; no tool needs as many. */
export const ARGUMENT_VALUES_MAX = 10_000;
/** Violations that one refusal lists; the rest are counted. */
export const VIOLATIONS_LISTED_MAX = 100;
/** Violations that the message of a refusal names; the rest are counted. */
export const VIOLATIONS_SUMMARISED_MAX = 8;
/** Characters (UTF-16 code units) of the field name in a violation: strangers choose the names of unknown properties. */
export const VIOLATION_FIELD_CHARACTERS_MAX = 128;
/** Milliseconds that a peer may take between the first and the last byte of a frame. */
export const FRAME_STALL_MS = 30_000;
/** Connections that one framed socket serves at once. */
export const FRAMED_CONNECTIONS_MAX = 256;
/** Bytes of answers that a peer may leave unread before its next calls wait. */
export const FRAMED_OUTPUT_BYTES_MAX = 4 * MIB;
/** Bytes of requests, whole or in part, that one framed socket holds for all its peers: four of the largest. */
export const FRAMED_HELD_BYTES_MAX = 4 * FRAME_BYTES_MAX;
/** Calls that one framed client keeps waiting for answers; more are a loop in its caller. */
export const FRAMED_CLIENT_CALLS_MAX = 16_384;
/** Connections that the HTTP front door serves at once on one address: a client of HTTP/1.1 needs one for each call in flight. */
export const HTTP_CONNECTIONS_MAX = 2048;
/** Calls in flight on all connections of an HTTP address together; later ones are refused. */
export const HTTP_CALLS_MAX = 4096;
/** Bytes of the headers of one HTTP request: a token, a deadline and what clients add by themselves need far less. */
export const HTTP_HEADER_BYTES_MAX = 16 * KIB;
/** Milliseconds that a peer may take to send the headers of a request, or the first bytes of a connection. */
export const HTTP_HEAD_MS = 10_000;
/** Milliseconds after which a connection without a call is closed. */
export const HTTP_IDLE_MS = 300_000;
/** Bytes that a peer of HTTP/2 may send ahead of what was read: enough to keep a local connection busy. */
export const HTTP_WINDOW_BYTES = MIB;
/** Mebibytes that one connection of HTTP/2 may make the library hold. */
export const HTTP_SESSION_MEMORY_MIB = 32;
/** Milliseconds that a client may ask a call to take: a day, so that every deadline is one that a timer can keep. */
export const RPC_TIMEOUT_MAX_MS = 86_400_000;
/** Bytes of one message of an RPC that is not a whole call: a chunk of an upload. */
export const RPC_MESSAGE_BYTES_MAX = 4 * MIB;
/** Bytes of a message that asks for tools, a receipt or content, or announces an upload: an id, a hash and two numbers. */
export const RPC_QUESTION_BYTES_MAX = 4 * KIB;
/** Bytes of a question of the operator: the largest carries the patterns of a lease. */
export const RPC_ADMIN_BYTES_MAX = 256 * KIB;
/** Bytes a second below which an upload over RPC is ended: its sender is on this machine, and keeps a place from others. */
export const UPLOAD_BYTES_PER_SECOND_MIN = 64 * KIB;
/** Uploads over RPC at once with one session's token: a quarter of what the kernel receives at once. */
export const UPLOADS_PER_SESSION_MAX = 8;
/** Bytes of one chunk of a download: within the message limit that clients have by default. */
export const RPC_CHUNK_BYTES = MIB;
/** Bytes of one answer that lists things, for the same reason. */
export const RPC_LIST_BYTES_MAX = 3 * MIB;
/** Reports and bytes of output that wait for a client which reads a running call slowly; more are dropped. */
export const RPC_REPORTS_MAX = 64;
/** Bytes of a running tool's output that wait for such a client. */
export const RPC_REPORT_BYTES_MAX = MIB;
/** Calls in flight on one connection or one stdio client; later ones wait unread. */
export const CALLS_IN_FLIGHT_MAX = 256;
/** Messages that a stdio client gets handled in one turn: their answers leave before the next are looked at, so that both sides work at once. */
export const MESSAGES_PER_TURN_MAX = 16;
/** Bytes of one JSON-RPC line: the largest write, escaped, plus room for its envelope. */
export const LINE_BYTES_MAX = 2 * MAX_WRITE_SIZE;
/** Messages in one JSON-RPC batch (MCP 2025-03-26): as many as may be in flight. */
export const BATCH_MESSAGES_MAX = 256;
/** Characters (UTF-16 code units) of a stranger's text that an MCP error message repeats. */
export const QUOTED_CHARACTERS_MAX = 128;
/** Milliseconds for which an MCP client may keep a list: tools change with the version alone, so it is old after an update for this long. */
export const LIST_FRESH_MS = 300_000;
/** Progress notifications that one MCP call sends; what comes after them is dropped. */
export const PROGRESS_NOTES_MAX = 1_000;

/** Bytes returned inline; a larger result is stored by hash (CTR-0024). */
export const INLINE_RESULT_BYTES_MAX = MIB;
/** Bytes of text shown to a model, and the default of `max_bytes`. */
export const SHOWN_BYTES_MAX = 100 * 1000;
/** Bytes of one stored object: the largest read that may be asked for must fit (`MAX_READ_LIMIT`). */
export const CONTENT_BYTES_MAX = GIB;
/** Bytes of one block of stored content: it is verified before it is handed out, so it is also what a stream keeps in memory. */
export const CONTENT_BLOCK_BYTES = MIB;
/** Bytes of all stored objects of a state directory; beyond it nothing is stored until a collection made room. */
export const CONTENT_STORE_BYTES_MAX = 64 * GIB;
/** Uploads that one kernel receives at once: each holds a block and a temporary file. */
export const CONTENT_STAGED_MAX = 32;
/** Uploads of one principal at once: a quarter of them all, so that nobody keeps others from storing. */
export const CONTENT_STAGED_PER_SENDER_MAX = 8;
/** Results of calls that one kernel stores at once; uploads take none of their places, because they come at a stranger's pace. */
export const CONTENT_RESULTS_STAGED_MAX = 32;
/** Milliseconds that a sender may pause between two pieces of an upload, and over RPC keep it waiting beyond its least rate. */
export const CONTENT_STALL_MS = 60_000;
/** Milliseconds for which unreferenced content stays after it was stored: whoever stored it has that long to publish it. */
export const CONTENT_GRACE_MS = 24 * 3_600_000;
/** Milliseconds after which the temporary file even of a living kernel counts as abandoned. */
export const CONTENT_TEMPORARY_AGE_MS = 24 * 3_600_000;
/** Temporary files looked at when a store is opened. */
export const CONTENT_TEMPORARIES_MAX = 4096;
/** Objects collected in one transaction: others wait that long to store theirs. */
export const CONTENT_COLLECTED_AT_ONCE = 64;
/** Objects that one page of a listing has. */
export const CONTENT_PAGE_MAX = 256;
/** Files and rows that one collection or verification looks at. */
export const CONTENT_SCANNED_MAX = 10_000_000;
/** Artifacts with the same content that are tried to find one that the caller may read. */
export const ARTIFACTS_OF_CONTENT_MAX = 64;
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
/** Matches that the edits of one call replace together. */
export const EDIT_MATCHES_MAX = 100_000;
/** Bytes that one edit call searches: file size times number of edits; hostile text costs less than a second then. */
export const EDIT_SCAN_BYTES_MAX = 256 * MIB;
/** Steps that the engine's own search may take in one edit call at worst; beyond it a slower search in linear time serves. */
export const EDIT_NATIVE_STEPS_MAX = 200_000_000;
/** Characters of one line in a diff; the rest of the line is counted. */
export const DIFF_LINE_CHARACTERS_MAX = 500;

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

/** Ledger events in one write transaction. */
export const LEDGER_BATCH_MAX = 1024;
/** Ledger events waiting for the writer; beyond it calls are refused, so that memory stays bounded. */
export const LEDGER_QUEUE_MAX = 65_536;
/** Characters of payload waiting for the writer, for the same reason: 256 payloads of the largest size. */
export const LEDGER_QUEUE_CHARACTERS_MAX = 64 * MIB;
/** Milliseconds within which an entry that was acknowledged without fsync is fsynced. */
export const LEDGER_SYNC_MS = 50;
/** Bytes of one instance's spool; beyond it buffered events wait for the writer, so that a restart recovers it quickly. */
export const LEDGER_SPOOL_BYTES_MAX = 64 * MIB;
/** Bytes of spool that one write transaction takes; a larger frame is not spooled. */
export const LEDGER_SPOOL_CHUNK_BYTES = 512 * KIB;
/** Spooled events that wait to be sent to the writer: more make its transactions no cheaper. */
export const LEDGER_SPOOL_UNSENT_MAX = 256;
/** Spools of dead instances that one start recovers; the next start takes the rest. */
export const LEDGER_SPOOLS_RECOVERED_MAX = 1024;
/** Kibibytes of pages that the ledger's writer keeps: it appends, and reads no page twice but the last ones. */
export const LEDGER_CACHE_KIB = 1024;
/** Milliseconds between two looks whether a thread is still busy; one without work between them gives memory back. */
export const IDLE_LOOK_MS = 500;
/** Milliseconds between two times that an idle thread gives memory back: calls that come in bursts are not slowed down by it. */
export const IDLE_PAUSE_MS = 60_000;
/** Bytes that an idle heap must hold beyond what it uses: less is not worth collecting. */
export const IDLE_HEAP_BYTES_MIN = 3 * MIB;
/** Milliseconds between two tries to write a ledger that could not be written, while no event comes to try it. */
export const LEDGER_RETRY_MS = 1_000;
/** Milliseconds to wait for another process's write transaction. */
export const STORE_BUSY_MS = 10_000;
/** Milliseconds between two tries to get another process's write lock: SQLite's own back-off grows, and starves waiters. */
export const STORE_BUSY_POLL_MS = 2;
/** Bytes of one ledger payload; larger facts are recorded by digest and size. */
export const LEDGER_PAYLOAD_BYTES_MAX = 256 * KIB;
/** Refused (invalid or unauthenticated) requests recorded one by one in a second; the rest are counted in one entry. */
export const REFUSALS_RECORDED_PER_SECOND = 20;
/** Ended sessions whose refused calls are counted apart; with more of them at once the oldest begin anew. */
export const REFUSED_SESSIONS_MAX = 1024;
/** Milliseconds during which violations count towards the alarm (Flow §7.2: per minute). */
export const VIOLATION_WINDOW_MS = 60_000;
/** Violations in a minute that raise the alarm when the operator says nothing (Flow §7.2). */
export const ALERT_VIOLATIONS_PER_MINUTE = 5;
/** Milliseconds between two reports of how far a tool is; those between are dropped, as nobody can read more. */
export const PROGRESS_INTERVAL_MS = 20;
/** Characters (UTF-16 code units) of the words in such a report. */
export const PROGRESS_MESSAGE_CHARACTERS_MAX = 1000;
/** Bytes of a running tool's output that are shown while it runs; the result has what matters. */
export const PROGRESS_OUTPUT_BYTES_MAX = 16 * MIB;
/** Bytes of one piece of such output. */
export const PROGRESS_OUTPUT_CHUNK_BYTES = 64 * KIB;
/** Milliseconds a running call has to end after its cancellation before it is abandoned. */
export const CANCEL_GRACE_MS = 5_000;

/** Ledger rows that one read returns: 256 payloads of the largest size are 64 MiB. */
export const LEDGER_READ_ROWS_MAX = 256;
/** Problems that one verification lists; a ledger with more is lost, and the list must not fill the memory. */
export const LEDGER_PROBLEMS_MAX = 10_000;
/** Open intents that one verification or one closing of orphans follows. */
export const LEDGER_OPEN_INTENTS_MAX = 65_536;
/** Rows that one listing of sessions or leases returns. */
export const STORE_LIST_MAX = 10_000;
/** Sessions and leases kept in memory between two changes of the store; the oldest go first. */
export const STORE_CACHE_ENTRIES_MAX = 4096;
/** Lock files of dead instances that one start removes. */
export const INSTANCE_SWEEP_MAX = 1024;
/** Milliseconds that the answer of a call with a dedupe key is kept: one day (CTR-0003). */
export const DEDUPE_KEPT_MS = 24 * 3_600_000;
/** Milliseconds that a call waits for another one with its dedupe key: longer than clients wait for an answer. */
export const DEDUPE_WAIT_MS = 300_000;
/** Calls of one kernel that wait for others with their dedupe key; each costs a timer and its arguments. */
export const DEDUPE_WAITERS_MAX = 16_384;
/** Milliseconds between two looks at a call that another kernel executes: the first pause … */
export const DEDUPE_POLL_MIN_MS = 2;
/** … and the longest one that the back-off reaches. */
export const DEDUPE_POLL_MAX_MS = 50;
/** Kept answers that are forgotten at once: deleting one of the largest size takes a fraction of a millisecond. */
export const DEDUPE_PURGE_ROWS_MAX = 64;
/** Milliseconds between two looks for answers that are too old, unless the last one left some. */
export const DEDUPE_PURGE_PAUSE_MS = 10_000;
/** Bytes of kept answers in one state directory; beyond it calls with a dedupe key are refused until old ones are forgotten. */
export const DEDUPE_STORE_BYTES_MAX = 4 * GIB;
/** Once that store is half full, a session that takes this part of it or more makes no further claims, so that others can. */
export const DEDUPE_SESSION_SHARE = 1 / 16;

/** Characters beyond both ends of a range that is read which are searched for secrets that the range cuts. */
export const REDACTION_MARGIN_CHARACTERS = 4 * KIB;
/** Characters of the text of a refusal or failure: what a tool says of itself must not become a way to send output. */
export const REFUSAL_TEXT_CHARACTERS_MAX = 4 * KIB;
/** Sets of secrets of single calls whose tables one redactor keeps: a session's calls follow each other. */
export const REDACTION_EXTRA_TABLES_MAX = 64;
/** Findings that one stream lists; more are replaced all the same. */
export const REDACTION_FINDINGS_KEPT_MAX = 10_000;
/** Redaction rules, and allowances, that an operator may add: each costs memory in every kernel. */
export const REDACTION_RULES_MAX = 256;
/** Characters of an example of such a rule. */
export const REDACTION_EXAMPLE_CHARACTERS_MAX = 4 * KIB;
/** Bytes that `handrail redact` takes from standard input: findings are listed with their place in all of it. */
export const REDACTION_INPUT_BYTES_MAX = 256 * MIB;
