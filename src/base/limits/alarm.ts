/** Limits of the alarm, of freezes, and of the security audit. */

/** Milliseconds during which violations count towards the alarm (Flow §7.2: per minute). */
export const VIOLATION_WINDOW_MS = 60_000;
/** Violations in a minute that raise the alarm when the operator says nothing (Flow §7.2). */
export const ALERT_VIOLATIONS_PER_MINUTE = 5;
/** Freezes that one kernel keeps in memory because they cannot be stored; with more of them it freezes everybody. */
export const FREEZES_HELD_MAX = 1024;
/** Characters (UTF-16 code units) of the reason that a person gives for a freeze or its end. */
export const FREEZE_REASON_CHARACTERS_MAX = 1000;
/** Milliseconds between two looks at a ledger that is followed, besides those that its changes cause: some file systems tell of none. */
export const AUDIT_LOOK_MS = 2_000;
/** Ledger entries that a review looks through, newest first: some hundred thousand are read in a second or two. */
export const REVIEW_ENTRIES_MAX = 200_000;
/** Violations, and last calls, that a review shows of each principal. */
export const REVIEW_SHOWN_MAX = 20;
