/** Limits of the way out of a sandbox. */
import { GIB, KIB } from "./units.ts";

/** Connections that one command has open to the proxy at once: package managers open up to 64; each is also a process inside. */
export const EGRESS_CONNECTIONS_MAX = 128;
/** Connections from all sandboxes of a kernel together: each takes two of its descriptors. */
export const EGRESS_KERNEL_CONNECTIONS_MAX = 512;
/** Attempts of one command, after which every further one is refused: the largest installations make some thousands. */
export const EGRESS_ATTEMPTS_MAX = 20_000;
/** Attempts of one command that are recorded one by one; the rest is counted. */
export const EGRESS_RECORDS_MAX = 1000;
/** Attempts without success that a tool learns of one by one. */
export const COMMAND_HOSTS_REPORTED_MAX = 20;
/** Hosts that a refusal lists. */
export const COMMAND_HOSTS_SHOWN_MAX = 8;
/** Bytes of the first line and the headers of a request or an answer. */
export const EGRESS_HEAD_BYTES_MAX = 32 * KIB;
/** Headers of a request or an answer. */
export const EGRESS_HEADERS_MAX = 128;
/** Milliseconds that the head of a request may take. */
export const EGRESS_HEAD_MS = 10_000;
/** Milliseconds that a request with its body may take to arrive. */
export const EGRESS_REQUEST_MS = 600_000;
/** Milliseconds without a byte in either direction after which a connection is closed. */
export const EGRESS_IDLE_MS = 120_000;
/** Milliseconds that any one connection may last: as long as the longest command. */
export const EGRESS_TOTAL_MS = 3_600_000;
/** Bytes in both directions together that one command may move. */
export const EGRESS_BYTES_MAX = 8 * GIB;
/** Milliseconds that looking a name up may take, all tries together. */
export const EGRESS_LOOKUP_MS = 5000;
/** Milliseconds that one try of looking a name up may take before the next. */
export const EGRESS_LOOKUP_TRY_MS = 1500;
/** Addresses of one name; a name with more is refused, because each is checked. */
export const EGRESS_ADDRESSES_MAX = 64;
/** Milliseconds that a connection to a host may take to be made, all addresses together. */
export const EGRESS_CONNECT_MS = 15_000;
/** Milliseconds after which the next address of a host is tried. */
export const EGRESS_CONNECT_TRY_MS = 1000;
/** Bytes of the first message of TLS, in which the client names the server: the largest that are seen carry a few keys. */
export const EGRESS_HELLO_BYTES_MAX = 64 * KIB;
/** Pieces in which that message may come: clients send it in one or two, and each is looked at with all before it. */
export const EGRESS_HELLO_PIECES_MAX = 64;
