/**
 * Collects limits of the kernel, in `limits/` by what they bound.
 *
 * Loops, queues, buffers, waits and inputs are bounded by a constant, from here or from the one file that uses it. Each
 * constant here names its unit last (`Bytes`, `Ms`, `Max` for counts) and says why it has its value.
 */
import { GIB, KIB, MIB } from "./bytes.ts";

// The validation constants of the APM2 tool protocol, under its names, because its table is normative.

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
/** Bytes of a BLAKE3-256 hash (INV-0027, 0029, 0031). */
export const HASH_SIZE = 32;
/** Entries of a repeated field (INV-0019, 0022, 0033). */
export const MAX_REPEATED_ITEMS = 1000;

// Approvals.

/**
 * Milliseconds that a call waits for a person at most: clients give up after a minute, and an answer has to reach them
 * before.
 */
export const APPROVAL_WAIT_MAX_MS = 45_000;
/** Characters of the reason that a decision gives. */
export const APPROVAL_REASON_CHARACTERS_MAX = 1000;

// Budgets.

/** Accounts and buckets that one listing returns. */
export const BUDGET_LIST_MAX = 10_000;

// Capabilities and danger patterns.

/** Characters (UTF-16 code units) of one danger pattern. */
export const DANGER_PATTERN_CHARACTERS_MAX = 1000;
/** Danger patterns of one tool. */
export const DANGER_PATTERNS_MAX = 64;

// Results and stored content.

/** Bytes returned inline; a larger result is stored by hash (CTR-0024). */
export const INLINE_RESULT_BYTES_MAX = MIB;
/** Bytes of text shown to a model, and the default of `max_bytes`. */
export const SHOWN_BYTES_MAX = 100 * 1000;
/** Bytes of one stored object: the largest read that may be asked for must fit (`MAX_READ_LIMIT`). */
export const CONTENT_BYTES_MAX = GIB;
/**
 * Bytes of one block of stored content: it is verified before it is handed out, so it is also what a stream keeps in
 * memory.
 */
export const CONTENT_BLOCK_BYTES = MIB;
/**
 * Milliseconds that a sender may pause between two pieces of an upload, and over RPC keep it waiting beyond its least
 * rate.
 */
export const CONTENT_STALL_MS = 60_000;
/** Objects that one page of a listing has. */
export const CONTENT_PAGE_MAX = 256;
/** Files and rows that one collection or verification looks at. */
export const CONTENT_SCANNED_MAX = 10_000_000;
/** Artifacts with the same content that one page of a listing has. */
export const ARTIFACTS_PAGE_MAX = 64;

// Files.

/** Entries that one listing returns at most. */
export const LIST_ENTRIES_MAX = 10_000;
/** Directory levels that a recursive listing enters at most. */
export const LIST_DEPTH_MAX = 32;
/** Path components looked at while explaining where a path leads. */
export const LINK_STEPS_MAX = 10_000;
/**
 * Steps that the engine's own search may take in one edit call at worst; beyond it a slower search in linear time
 * serves.
 */
export const EDIT_NATIVE_STEPS_MAX = 200_000_000;

// Gates.

/** Bytes of one gate file: they are read again with every change of the directory. */
export const GATE_FILE_BYTES_MAX = 256 * KIB;

// Git.

/** Bytes of a reference's name. */
export const GIT_REF_BYTES_MAX = 250;
/**
 * Megabytes that a run of git may receive from a remote where the operator does not say: as much as one file may have.
 */
export const GIT_RECEIVED_MB = 1024;
/**
 * Megabytes that a run of git with a remote, and what is merged of it, may write where the operator does not say:
 * packed, files take a quarter or less.
 */
export const GIT_WRITTEN_MB = 4096;

// The ledger's writer, and cancellation.

/** Ledger events in one write transaction. */
export const LEDGER_BATCH_MAX = 1024;
/**
 * Bytes of one instance's spool; beyond it buffered events wait for the writer, so that a restart recovers it quickly.
 */
export const LEDGER_SPOOL_BYTES_MAX = 64 * MIB;
/** Milliseconds a running call has to end after its cancellation before it is abandoned. */
export const CANCEL_GRACE_MS = 5_000;

// Policy and configuration files.

/** Bytes of one policy or configuration file. */
export const CONFIG_FILE_BYTES_MAX = MIB;
/**
 * Bytes of a workspace's own configuration file: a stranger may have written it, and parsing takes more time than its
 * size.
 */
export const WORKSPACE_CONFIG_BYTES_MAX = 16 * KIB;
/** Policy files in one directory. */
export const POLICY_FILES_MAX = 256;
/** Recorded entries that one comparison of policies looks at when the operator does not say. */
export const REPLAY_ENTRIES_DEFAULT = 100_000;

// Redaction.

/** Characters beyond both ends of a range that is read which are searched for secrets that the range cuts. */
export const REDACTION_MARGIN_CHARACTERS = 4 * KIB;

// Search.

/** Characters shown of one line in a search. */
export const SEARCH_LINE_CHARACTERS_MAX = 500;
/** Files that one count lists with their own number; the others are in the sum. */
export const COUNT_FILES_LISTED_MAX = 1000;

// Sessions, leases and the patterns that bound them.

/** Milliseconds a session or lease may live at most: thirty days. */
export const SESSION_LIFETIME_MAX_MS = 30 * 24 * 3_600_000;
/** Random bytes of a session token: 256 bits. */
export const TOKEN_BYTES = 32;
/** Depth of lease derivation; deeper chains mean a loop. */
export const LEASE_DEPTH_MAX = 16;
/** Characters of a glob that has wildcards: matching takes time in proportion to them times those of the path. */
export const GLOB_CHARACTERS_MAX = 1024;
/**
 * Characters of all globs of one list of zone patterns, braces written out: every path of every call is tried on them.
 */
export const GLOB_LIST_CHARACTERS_MAX = 32 * KIB;
/** Milliseconds that one arming may last: a working day with a margin; who needs longer arms again, and says so. */
export const ARMING_MAX_MS = 24 * 3_600_000;

// Listings of stores.

/** Ledger rows that one read returns: 256 payloads of the largest size are 64 MiB. */
export const LEDGER_READ_ROWS_MAX = 256;
/** Problems that one verification lists; a ledger with more is lost, and the list must not fill the memory. */
export const LEDGER_PROBLEMS_MAX = 10_000;
/** Rows that one listing of sessions or leases returns. */
export const STORE_LIST_MAX = 10_000;

// Frames, sockets, HTTP and lines.

/** Bytes of one frame or message: the largest write plus room for its envelope. */
export const FRAME_BYTES_MAX = MAX_WRITE_SIZE + 64 * KIB;
/** Nested messages or JSON containers: deeper input is an attack on the parser, no tool needs it. */
export const NESTING_DEPTH_MAX = 64;
/**
 * Values in the arguments of one call: each that does not fit its schema becomes a problem of its own; no tool needs as
 * many.
 */
export const ARGUMENT_VALUES_MAX = 10_000;
/** Milliseconds that a peer may take between the first and the last byte of a frame. */
export const FRAME_STALL_MS = 30_000;
/** Bytes of the path of a Unix socket: what the address structure of Linux holds, without the zero at its end. */
export const SOCKET_PATH_BYTES_MAX = 107;
/** Bytes of requests, whole or in part, that one framed socket holds for all its peers: four of the largest. */
export const FRAMED_HELD_BYTES_MAX = 4 * FRAME_BYTES_MAX;
/**
 * Connections that the HTTP front door serves at once on one address: a client of HTTP/1.1 needs one for each call in
 * flight.
 */
export const HTTP_CONNECTIONS_MAX = 2048;
/**
 * Bytes a second below which an upload over RPC is ended: its sender is on this machine, and keeps a place from others.
 */
export const UPLOAD_BYTES_PER_SECOND_MIN = 64 * KIB;
/** Calls in flight on one connection or one stdio client; later ones wait unread. */
export const CALLS_IN_FLIGHT_MAX = 256;
/**
 * Messages that a stdio client gets handled in one turn: their answers leave before the next are looked at, so that
 * both sides work at once.
 */
export const MESSAGES_PER_TURN_MAX = 32;
/** Bytes of one JSON-RPC line: the largest write, escaped, plus room for its envelope. */
export const LINE_BYTES_MAX = 2 * MAX_WRITE_SIZE;
