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
/** Calls in flight on one connection or one stdio client; later ones wait unread. */
export const CALLS_IN_FLIGHT_MAX = 256;
/** Bytes of one JSON-RPC line: the largest write, escaped, plus room for its envelope. */
export const LINE_BYTES_MAX = 2 * MAX_WRITE_SIZE;

/** Bytes returned inline; a larger result is stored by hash (CTR-0024). */
export const INLINE_RESULT_BYTES_MAX = MIB;
/** Bytes of text shown to a model, and the default of `max_bytes`. */
export const SHOWN_BYTES_MAX = 100 * 1000;
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

/** Milliseconds a new session lives when the operator says nothing: one working day. */
export const SESSION_LIFETIME_MS = 12 * 3_600_000;
/** Milliseconds a session or lease may live at most: thirty days. */
export const SESSION_LIFETIME_MAX_MS = 30 * 24 * 3_600_000;
/** Random bytes of a session token: 256 bits. */
export const TOKEN_BYTES = 32;
/** Depth of lease derivation; deeper chains mean a loop. */
export const LEASE_DEPTH_MAX = 16;
/** Wildcards `*` in one component of a lease's path pattern, and `**` in all of it: each more multiplies the time by the path's length. */
export const GLOB_STARS_MAX = 2;

/** Decisions kept by the policy memo; the oldest go first. */
export const POLICY_MEMO_ENTRIES_MAX = 4096;
/** Bytes of one policy or configuration file. */
export const CONFIG_FILE_BYTES_MAX = MIB;
/** Entries of one list in a configuration file: each pattern is tried on every path. */
export const CONFIG_LIST_ENTRIES_MAX = 256;
/** Workspaces that one kernel keeps open; each holds two descriptors. */
export const WORKSPACES_OPEN_MAX = 64;
/** Policies remembered as valid; the oldest go first. */
export const VALIDATED_POLICIES_MAX = 64;
/** Policy files in one directory. */
export const POLICY_FILES_MAX = 256;

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

/** Milliseconds during which violations count towards the alarm (Flow §7.2: per minute). */
export const VIOLATION_WINDOW_MS = 60_000;
/** Violations in a minute that raise the alarm when the operator says nothing (Flow §7.2). */
export const ALERT_VIOLATIONS_PER_MINUTE = 5;
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
