/**
 * Builds the failures of calls that replay protection refuses.
 *
 * None of the refused calls was executed.
 */

import { ToolFailure } from "../model/outcome/failure.ts";
import type { Boarding } from "./flights.ts";
import { DEDUPE_POLL_MAX_MS, DEDUPE_PURGE_PAUSE_MS, DEDUPE_WAIT_MS } from "./limits.ts";

/** The key belongs to another call. */
export function conflict(): ToolFailure {
  const message = "the dedupe key was used for another call in this session";
  return new ToolFailure(
    "DEDUPE_CONFLICT",
    message,
    "give each call a key of its own; repeat a call with the same arguments only",
  );
}

/** The kernel that executed the call is gone, and nobody knows how far it came. */
export function outcomeUnknown(): ToolFailure {
  const message =
    "the kernel that executed this call ended before its outcome was kept, so the call may have taken effect";
  return new ToolFailure(
    "OUTCOME_UNKNOWN",
    message,
    "check the state of the workspace; if the call is still wanted, use another dedupe key",
  );
}

/** The first call with the key is still under way. */
export function busy(): ToolFailure {
  const message = `the first call with this dedupe key did not end within ${DEDUPE_WAIT_MS / 1000} s`;
  return new ToolFailure("RESOURCE_BUSY", message, {
    suggestion: "try again in a moment, with the same key",
    retryAfterMs: 1000,
  });
}

/** The session keeps as many answers as it may while room is short. */
export function full(): ToolFailure {
  const message = "this session has its share of the answers that can be kept for dedupe keys";
  const next =
    "send the call without a dedupe key, or again when older answers were forgotten, a day after they were given";
  return new ToolFailure("RESOURCE_BUSY", message, { suggestion: next, retryAfterMs: DEDUPE_PURGE_PAUSE_MS });
}

/** The call was given up while it waited for the first one. */
export function cancelled(): ToolFailure {
  return new ToolFailure("CANCELLED", "the call was cancelled before it ran", "send it again if it is still wanted");
}

/** Why a call could not board a flight. */
export function failureOf(kind: Exclude<Boarding["kind"], "lead" | "landed">): ToolFailure {
  switch (kind) {
    case "conflict":
      return conflict();
    case "late":
      return busy();
    case "cancelled":
      return cancelled();
    case "crowded": {
      const message = "too many calls wait for the answer of others";
      return new ToolFailure("RESOURCE_BUSY", message, {
        suggestion: "try again in a moment, with the same key",
        retryAfterMs: DEDUPE_POLL_MAX_MS,
      });
    }
  }
}
