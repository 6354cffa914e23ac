/**
 * Gathers what a person reviews before a frozen agent goes on.
 *
 * This is why the agent was frozen, its violations, what it called last, and what it has seen. It reads the stores and
 * the ledger, and changes nothing.
 */
import { LEDGER_READ_ROWS_MAX } from "../../base/limits.ts";
import type { Freeze } from "../../flow/freeze-store.ts";
import type { MarkStore } from "../../flow/mark-store.ts";
import { type SecurityEvent, securityEventOf } from "../../ledger/audit/security-event.ts";
import type { Mark } from "../../model/outcome/label.ts";
import type { Session } from "../../model/people/session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { pagesBackwards } from "../ledger/audit-stream.ts";
import type { LedgerReader, LedgerRecord } from "../ledger/ledger-reader.ts";
import type { FreezeAdministration } from "./freeze-administration.ts";

/** Ledger entries that a review looks through, newest first: some hundred thousand are read in a second or two. */
const REVIEW_ENTRIES_MAX = 200_000;
/** Violations, and last calls, that a review shows of each principal. */
const REVIEW_SHOWN_MAX = 20;

/** A call as a review shows it. */
export interface ReviewedCall {
  readonly sequence: number;
  readonly timestamp: string;
  readonly event: string;
  readonly tool: string;
  /** The paths, hosts or commands that it named. */
  readonly accesses: readonly unknown[];
  /** Reason or error code of a call that did not succeed. */
  readonly problem?: string;
}

/** Everything about a session's principal in its workspace. Oldest first. */
export interface SessionReview {
  readonly session: Session;
  /** The widest freeze that holds it. */
  readonly freeze?: Freeze;
  /** Absent for an agent that has seen nothing. */
  readonly mark?: Mark;
  /** Sessions of the same principal in the same workspace that may still act. */
  readonly liveSessions: readonly string[];
  readonly violations: readonly SecurityEvent[];
  readonly calls: readonly ReviewedCall[];
  /** Entries that were looked through; a longer ledger may hold more. */
  readonly entriesRead: number;
}

const CALLS: ReadonlySet<string> = new Set([
  "tool_executed",
  "tool_execution_denied",
  "tool_replayed",
  "tool_outcome_unknown",
]);

/** What a review reads. */
export interface ReviewDesk {
  readonly freezes: Pick<FreezeAdministration, "findFreeze">;
  readonly marks: Pick<MarkStore, "findMark">;
  readonly sessions: Pick<SessionStore, "listSessions">;
  readonly reader: LedgerReader;
}

/** Reviews a session that exists. */
export async function reviewSession(desk: ReviewDesk, session: Session, nowMs: number): Promise<SessionReview> {
  const [freeze, mark, all] = await Promise.all([
    desk.freezes.findFreeze(session),
    desk.marks.findMark(session),
    desk.sessions.listSessions(),
  ]);
  const own = all.filter((other) => isSamePrincipal(other, session));
  const found = await evidenceOf(desk.reader, new Set([session.id, ...own.map(({ id }) => id)]));
  return {
    session,
    ...(freeze && { freeze }),
    ...(mark && { mark }),
    liveSessions: own
      .filter(({ revokedAtMs, expiresAtMs }) => revokedAtMs === undefined && nowMs < expiresAtMs)
      .map(({ id }) => id),
    ...found,
  };
}

async function evidenceOf(reader: LedgerReader, sessions: ReadonlySet<string>) {
  const violations: SecurityEvent[] = [];
  const calls: ReviewedCall[] = [];
  let entriesRead = 0;
  for await (const page of pagesBackwards(reader, (await reader.head()).sequence)) {
    for (const record of [...page].reverse()) {
      if (!sessions.has(record.entry.sessionId)) continue;
      const event = securityEventOf(record);
      if (event?.violation_type !== undefined && violations.length < REVIEW_SHOWN_MAX) violations.push(event);
      if (CALLS.has(record.entry.eventType) && calls.length < REVIEW_SHOWN_MAX) calls.push(callOf(record, event));
    }
    entriesRead += page.length;
    const isEnough = violations.length >= REVIEW_SHOWN_MAX && calls.length >= REVIEW_SHOWN_MAX;
    if (isEnough || entriesRead + LEDGER_READ_ROWS_MAX > REVIEW_ENTRIES_MAX) break;
  }
  return { violations: violations.reverse(), calls: calls.reverse(), entriesRead };
}

function callOf({ entry, payload }: LedgerRecord, event: SecurityEvent | undefined): ReviewedCall {
  const facts =
    payload === undefined ? {} : (JSON.parse(Buffer.from(payload).toString("utf8")) as Record<string, unknown>);
  const { tool = "", accesses = [], reason, errorCode } = facts;
  const problem = reason ?? errorCode;
  return {
    sequence: entry.sequence,
    timestamp: event?.timestamp ?? new Date(entry.timeMicros / 1000).toISOString(),
    event: entry.eventType,
    tool: String(tool),
    accesses: Array.isArray(accesses) ? accesses : [],
    ...(typeof problem === "string" && { problem }),
  };
}

function isSamePrincipal(left: Session, right: Session): boolean {
  return left.userId === right.userId && left.agentId === right.agentId && left.serviceRoot === right.serviceRoot;
}
