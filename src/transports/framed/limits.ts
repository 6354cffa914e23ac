/** The limits of a framed socket; tests shorten them. */

import { MIB } from "../../base/bytes.ts";
import {
  CALLS_IN_FLIGHT_MAX,
  CANCEL_GRACE_MS,
  FRAME_BYTES_MAX,
  FRAME_STALL_MS,
  FRAMED_HELD_BYTES_MAX,
} from "../../base/limits.ts";

/** Connections that one framed socket serves at once. */
export const FRAMED_CONNECTIONS_MAX = 256;
/** Bytes of answers that a peer may leave unread before its next calls wait. */
const FRAMED_OUTPUT_BYTES_MAX = 4 * MIB;

/** What one framed socket admits. */
export interface FramedLimits {
  readonly frameBytesMax: number;
  readonly callsInFlightMax: number;
  readonly connectionsMax: number;
  /** Bytes of requests held for all connections together. */
  readonly heldBytesMax: number;
  /** Bytes of answers that one peer may leave unread. */
  readonly outputBytesMax: number;
  readonly stallMs: number;
  /** Milliseconds that aborted calls have to end when the socket closes. */
  readonly closeGraceMs: number;
}

/** The limits in force when nothing else is said. */
export const DEFAULT_FRAMED_LIMITS: FramedLimits = {
  frameBytesMax: FRAME_BYTES_MAX,
  callsInFlightMax: CALLS_IN_FLIGHT_MAX,
  connectionsMax: FRAMED_CONNECTIONS_MAX,
  heldBytesMax: FRAMED_HELD_BYTES_MAX,
  outputBytesMax: FRAMED_OUTPUT_BYTES_MAX,
  stallMs: FRAME_STALL_MS,
  closeGraceMs: CANCEL_GRACE_MS,
};
