/**
 * Reads from a ledger what calls reached and tried to reach over the network, and why.
 *
 * It is no record of its own: what it says stands in the ledger. Memory is bounded by what is asked for.
 */
import { textOf } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { pagesBackwards } from "../ledger/audit-stream.ts";
import type { LedgerReader, LedgerRecord } from "../ledger/ledger-reader.ts";
import { type Grant, grantFor } from "./net-advice.ts";
import type { NetAttempt } from "./net-attempt.ts";

/** Which attempts to show. */
export interface NetQuery {
  /** The last so many. */
  readonly count: number;
  /** Milliseconds since the Unix epoch. */
  readonly sinceMs?: number;
  /** In its one form, or what it ends with after a dot. */
  readonly host?: string;
  /** Only what did not go through. */
  readonly isRefused?: boolean;
  /** Only those of one call. */
  readonly requestId?: string;
}

/** An attempt, why it came to what it did, and what would change that. */
export interface ExplainedAttempt extends NetAttempt {
  readonly why: string;
  /** Absent where nothing needs to change, or nothing may. */
  readonly grant?: Grant;
}

/** The attempts of one call, and what the call itself came to. */
export interface ExplainedCall {
  readonly request_id: string;
  readonly tool: string;
  readonly actor: string;
  /** `allowed` or `denied`, as policy has it; `unknown` where the ledger says nothing of it. */
  readonly decision: string;
  /** The rules that decided. */
  readonly rules: readonly string[];
  readonly attempts: readonly ExplainedAttempt[];
}

/** Entries that are looked through for one call, newest first. */
const ENTRIES_MAX = 200_000;

const ATTEMPTS: ReadonlySet<string> = new Set(["network_reached", "network_blocked"]);
const DECISIONS: ReadonlySet<string> = new Set(["tool_executed", "tool_execution_denied", "tool_outcome_unknown"]);

/** The attempts that `query` asks for, oldest first. */
export async function netLog(reader: LedgerReader, query: NetQuery): Promise<readonly NetAttempt[]> {
  const found: NetAttempt[] = [];
  for await (const record of backwards(reader)) {
    if (query.sinceMs !== undefined && record.entry.timeMicros / 1000 < query.sinceMs) break;
    const attempt = attemptOf(record);
    if (attempt === undefined || !isWanted(attempt, query)) continue;
    found.push(attempt);
    if (found.length >= query.count) break;
  }
  return found.reverse();
}

/** What a call reached and tried to reach, and why; `undefined` for a call that the ledger does not name. */
export async function explainCall(reader: LedgerReader, requestId: string): Promise<ExplainedCall | undefined> {
  const attempts: NetAttempt[] = [];
  let decision: { readonly kind: string; readonly rules: readonly string[]; readonly tool: string } | undefined;
  let actor = "";
  for await (const record of backwards(reader)) {
    const { entry } = record;
    if (entry.requestId !== requestId) continue;
    actor = entry.actor;
    const attempt = attemptOf(record);
    if (attempt !== undefined) attempts.push(attempt);
    if (!DECISIONS.has(entry.eventType)) continue;
    const facts = factsOf(record);
    const rules = facts["rules"] ?? facts["ruleId"];
    decision ??= {
      kind: entry.eventType === "tool_execution_denied" ? "denied" : "allowed",
      rules: Array.isArray(rules) ? rules.map(String) : rules === undefined ? [] : [text(rules)],
      tool: text(facts["tool"]),
    };
  }
  if (decision === undefined && attempts.length === 0) return undefined;
  return {
    request_id: requestId,
    tool: decision?.tool ?? attempts[0]?.tool ?? "",
    actor,
    decision: decision?.kind ?? "unknown",
    rules: decision?.rules ?? [],
    attempts: attempts.reverse().map((attempt) => ({ ...attempt, ...grantFor(attempt) })),
  };
}

async function* backwards(reader: LedgerReader): AsyncGenerator<LedgerRecord> {
  const { sequence } = await reader.head();
  let left = ENTRIES_MAX;
  for await (const page of pagesBackwards(reader, sequence))
    for (const record of [...page].reverse()) {
      if (left === 0) return;
      left -= 1;
      yield record;
    }
}

function isWanted({ host, outcome, request_id: request }: NetAttempt, query: NetQuery): boolean {
  if (query.requestId !== undefined && request !== query.requestId) return false;
  if (query.isRefused === true && outcome === "allowed") return false;
  return query.host === undefined || host === query.host || host.endsWith(`.${query.host}`);
}

function attemptOf(record: LedgerRecord): NetAttempt | undefined {
  const { entry } = record;
  if (!ATTEMPTS.has(entry.eventType)) return undefined;
  const facts = factsOf(record);
  const { secrets } = facts;
  return {
    sequence: entry.sequence,
    timestamp: new Date(entry.timeMicros / 1000).toISOString(),
    request_id: entry.requestId,
    session_id: entry.sessionId,
    actor: entry.actor,
    tool: text(facts["tool"]),
    host: text(facts["host"]),
    port: number(facts["port"]),
    via: text(facts["via"]),
    outcome: text(facts["outcome"]),
    ...(facts["reason"] !== undefined && { reason: text(facts["reason"]) }),
    ...(facts["address"] !== undefined && { address: text(facts["address"]) }),
    secrets: Array.isArray(secrets) ? secrets.map(text) : [],
    bytes_out: number(facts["bytesOut"]),
    bytes_in: number(facts["bytesIn"]),
    duration_ms: number(facts["executionTime"]),
  };
}

/** A payload is written by the kernel; one that was pruned says nothing. */
function factsOf({ payload }: LedgerRecord): JsonObject {
  const value: unknown = payload === undefined ? {} : JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(value) ? value : {};
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function number(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
