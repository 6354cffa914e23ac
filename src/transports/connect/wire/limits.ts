/** The limits of an HTTP front door; tests shorten them. */

import { KIB } from "../../../base/bytes.ts";
import {
  CALLS_IN_FLIGHT_MAX,
  CANCEL_GRACE_MS,
  CONTENT_STALL_MS,
  FRAME_BYTES_MAX,
  FRAME_STALL_MS,
  FRAMED_HELD_BYTES_MAX,
  HTTP_CONNECTIONS_MAX,
  UPLOAD_BYTES_PER_SECOND_MIN,
} from "../../../base/limits.ts";

/** Calls in flight on all connections of an HTTP address together; later ones are refused. */
const HTTP_CALLS_MAX = 4096;
/** Bytes of the headers of one HTTP request: a token, a deadline and what clients add by themselves need far less. */
export const HTTP_HEADER_BYTES_MAX = 16 * KIB;
/** Milliseconds that a peer may take to send the headers of a request, or the first bytes of a connection. */
const HTTP_HEAD_MS = 10_000;
/** Milliseconds after which a connection without a call is closed. */
const HTTP_IDLE_MS = 300_000;
/** Milliseconds that a client may ask a call to take: a day, so that every deadline is one that a timer can keep. */
export const RPC_TIMEOUT_MAX_MS = 86_400_000;
/** Uploads over RPC at once with one session's token: a quarter of what the kernel receives at once. */
const UPLOADS_PER_SESSION_MAX = 8;

/** What one front door admits. */
export interface ConnectLimits {
  readonly connectionsMax: number;
  /** Calls in flight on one connection. */
  readonly connectionCallsMax: number;
  /** Calls in flight on all connections. */
  readonly callsMax: number;
  /** Bytes of one `ToolRequest`. */
  readonly requestBytesMax: number;
  /** Bytes of requests held for all connections together. */
  readonly heldBytesMax: number;
  /** Milliseconds for the first bytes of a connection, and for the headers of a request. */
  readonly headMs: number;
  /**
   * Milliseconds that a peer may take for a whole request, for the next message of an upload, or to read what was
   * written.
   */
  readonly stallMs: number;
  /** Milliseconds of waiting that an upload may cost beyond those that its bytes take at the least rate. */
  readonly uploadGraceMs: number;
  /** Least rate of an upload. */
  readonly uploadBytesPerSecondMin: number;
  /** Uploads at once with one session's token. */
  readonly sessionUploadsMax: number;
  /** Milliseconds without a call after which a connection is closed. */
  readonly idleMs: number;
  /** Milliseconds that aborted calls have to end when the front door closes. */
  readonly closeGraceMs: number;
}

/** The limits in force when nothing else is said. */
export const DEFAULT_CONNECT_LIMITS: ConnectLimits = {
  connectionsMax: HTTP_CONNECTIONS_MAX,
  connectionCallsMax: CALLS_IN_FLIGHT_MAX,
  callsMax: HTTP_CALLS_MAX,
  requestBytesMax: FRAME_BYTES_MAX,
  heldBytesMax: FRAMED_HELD_BYTES_MAX,
  headMs: HTTP_HEAD_MS,
  stallMs: FRAME_STALL_MS,
  uploadGraceMs: CONTENT_STALL_MS,
  uploadBytesPerSecondMin: UPLOAD_BYTES_PER_SECOND_MIN,
  sessionUploadsMax: UPLOADS_PER_SESSION_MAX,
  idleMs: HTTP_IDLE_MS,
  closeGraceMs: CANCEL_GRACE_MS + 1_000,
};
