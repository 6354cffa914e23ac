/** Limits of approvals: how long people are waited for, and how much they are asked. */
import { GIB, KIB } from "./units.ts";

/** Milliseconds that a call waits for a person at most: clients give up after a minute, and an answer has to reach them before. */
export const APPROVAL_WAIT_MAX_MS = 45_000;
/** Milliseconds after which a request that nobody answered, and an approval that nobody used, is over: a quarter of an hour. */
export const APPROVAL_LIFETIME_MS = 15 * 60_000;
/** Milliseconds that the operator may let them live at most: a week. */
export const APPROVAL_LIFETIME_MAX_MS = 7 * 24 * 3_600_000;
/** Requests of one principal in one workspace that wait for an answer at a time: more than anybody looks through. */
export const APPROVALS_PENDING_MAX = 64;
/** New requests of one principal in one workspace in a minute: a person who is asked more often answers without looking. */
export const APPROVALS_PER_MINUTE_MAX = 30;
/** Requests that wait for an answer in one state directory. */
export const APPROVALS_PENDING_TOTAL_MAX = 10_000;
/** Bytes of one request as it is shown and kept, diffs included. */
export const APPROVAL_DOCUMENT_BYTES_MAX = 512 * KIB;
/** Milliseconds that requests which are over are kept to be looked at: a week; the ledger keeps what was decided. */
export const APPROVAL_KEPT_MS = 7 * 24 * 3_600_000;
/** Requests that one sweep closes or forgets. */
export const APPROVAL_SWEEP_ROWS_MAX = 64;
/** Milliseconds between two sweeps of one kernel. */
export const APPROVAL_SWEEP_PAUSE_MS = 10_000;
/** Calls of one kernel that wait for people; each costs a timer and its arguments. */
export const APPROVAL_WAITERS_MAX = 4096;
/** The same of one session: half of what a connection may have in flight, so that answers and other calls are read meanwhile. */
export const APPROVAL_WAITERS_PER_SESSION_MAX = 128;
/** In-band answers to one request that decide nothing, after which its client is not asked again: it does not know how, or nobody is there. */
export const IN_BAND_ANSWERS_MAX = 3;
/** Characters (UTF-16 code units) of a request as a client shows it; one that does not fit is left to other channels, never shown in part. */
export const IN_BAND_PROMPT_CHARACTERS_MAX = 64 * KIB;
/** Questions that one client shows at a time: no principal has more requests that wait. */
export const IN_BAND_QUESTIONS_MAX = 64;
/** Milliseconds that the state between two rounds of a call counts at most: as long as a request lives if nobody says otherwise. */
export const ROUND_STATE_MS = 15 * 60_000;
/** Characters of that state: some five times what the longest names need. */
export const ROUND_STATE_CHARACTERS_MAX = 4 * KIB;
/** Requests that one listing returns. */
export const APPROVALS_LISTED_MAX = 1000;
/** Characters of the reason that a decision gives. */
export const APPROVAL_REASON_CHARACTERS_MAX = 1000;
/** Bytes of a decision file. */
export const DECISION_FILE_BYTES_MAX = 16 * KIB;
/** Bytes of a file of which the content is part of an approval; hashing a larger one takes longer than a person. */
export const PRE_IMAGE_BYTES_MAX = 4 * GIB;
/** Approver credentials of one state directory. */
export const APPROVERS_MAX = 256;
/** Clients that the operator may mark as attended. */
export const ATTENDED_CLIENTS_MAX = 64;
