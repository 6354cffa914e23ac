/** Limits of what comes over the wire: frames, JSON, sockets, HTTP, MCP. */
import { MAX_WRITE_SIZE } from "./protocol.ts";
import { KIB, MIB } from "./units.ts";

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
/** Bytes of the path of a Unix socket: what the address structure of Linux holds, without the zero at its end. */
export const SOCKET_PATH_BYTES_MAX = 107;
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
export const MESSAGES_PER_TURN_MAX = 32;
/** Bytes of one JSON-RPC line: the largest write, escaped, plus room for its envelope. */
export const LINE_BYTES_MAX = 2 * MAX_WRITE_SIZE;
/** Messages in one JSON-RPC batch (MCP 2025-03-26): as many as may be in flight. */
export const BATCH_MESSAGES_MAX = 256;
/** Characters (UTF-16 code units) of a stranger's text that an MCP error message repeats. */
export const QUOTED_CHARACTERS_MAX = 128;
/** Characters (UTF-16 code units) of an error message of the MCP library, whose longest own text is some 250: the rest is the client's. */
export const RPC_ERROR_CHARACTERS_MAX = 512;
/** Milliseconds for which an MCP client may keep a list: tools change with the version alone, so it is old after an update for this long. */
export const LIST_FRESH_MS = 300_000;
/** Progress notifications that one MCP call sends; what comes after them is dropped. */
export const PROGRESS_NOTES_MAX = 1_000;
/** Characters (UTF-16 code units) of a running command's output in one of them: some screens full. */
export const OUTPUT_NOTE_CHARACTERS_MAX = 8_000;
/** Milliseconds between two notes of output, while there were few: what comes meanwhile goes into one. */
export const OUTPUT_NOTE_INTERVAL_MS = 100;
/** Notes of output that may follow each other so quickly. */
export const OUTPUT_NOTES_QUICK_MAX = 400;
/** Milliseconds between later ones: the notes that are left, two at a time, last for the hour that a command may take. */
export const OUTPUT_NOTE_SLOW_INTERVAL_MS = 12_000;
