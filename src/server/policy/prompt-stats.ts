/**
 * Counts from a ledger how often people were asked, by which rules, and what came of it.
 *
 * It is no record of its own: what it says stands in the ledger. Memory goes with rules and tools, not with calls.
 */
import { textOf } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { pagesBackwards } from "../ledger/audit-stream.ts";
import type { LedgerReader, LedgerRecord } from "../ledger/ledger-reader.ts";

/** How often something was asked about, and what people said. */
export interface Asked {
  readonly asked: number;
  readonly approved: number;
  readonly refused: number;
  /** Nobody has answered, or not in time. */
  readonly unanswered: number;
}

/** The count of one ledger. */
export interface PromptStats {
  /** Calls that came to an end, executed or refused. */
  readonly calls: number;
  readonly refused_calls: number;
  readonly prompts: Asked;
  /** Rounded to a tenth. */
  readonly prompts_per_1000: number;
  /** Most asked first; a request that several rules ask about counts for each. */
  readonly by_rule: readonly (Asked & { readonly rule: string })[];
  readonly by_tool: readonly (Asked & { readonly tool: string; readonly calls: number })[];
  /** Refused calls by the rule that refused them, most first. */
  readonly refusals: readonly { readonly rule: string; readonly calls: number }[];
}

/** Entries that are looked through, newest first. */
const ENTRIES_MAX = 1_000_000;
const ENDS: ReadonlySet<string> = new Set(["tool_executed", "tool_execution_denied", "tool_outcome_unknown"]);

/** Counts what happened since then. @param sinceMs milliseconds since the Unix epoch; all of it when absent */
export async function promptStats(reader: LedgerReader, sinceMs?: number): Promise<PromptStats> {
  const tally = new Tally();
  const { sequence } = await reader.head();
  let left = ENTRIES_MAX;
  for await (const page of pagesBackwards(reader, sequence))
    for (const record of [...page].reverse()) {
      if (left === 0 || (sinceMs !== undefined && record.entry.timeMicros / 1000 < sinceMs)) return tally.stats();
      left -= 1;
      tally.take(record);
    }
  return tally.stats();
}

type Counts = { asked: number; approved: number; refused: number };

/** What was read so far, newest first: an answer comes before what it answers. */
class Tally {
  #calls = 0;
  #refusedCalls = 0;
  readonly #all: Counts = { asked: 0, approved: 0, refused: 0 };
  readonly #rules = new Map<string, Counts>();
  readonly #tools = new Map<string, Counts & { calls: number }>();
  readonly #refusals = new Map<string, number>();
  /** By reference, what was said of a request that is to come. */
  readonly #answers = new Map<string, boolean>();

  take(record: LedgerRecord): void {
    const { eventType } = record.entry;
    if (ENDS.has(eventType)) this.#end(eventType, factsOf(record));
    else if (eventType === "tool_approval_decided") this.#decided(factsOf(record));
    else if (eventType === "approval_requested") this.#requested(factsOf(record));
  }

  stats(): PromptStats {
    const { asked } = this.#all;
    return {
      calls: this.#calls,
      refused_calls: this.#refusedCalls,
      prompts: shown(this.#all),
      prompts_per_1000: this.#calls === 0 ? 0 : Math.round((asked * 10_000) / this.#calls) / 10,
      by_rule: sorted(this.#rules).map(([rule, counts]) => ({ rule, ...shown(counts) })),
      by_tool: sorted(this.#tools).map(([tool, counts]) => ({ tool, calls: counts.calls, ...shown(counts) })),
      refusals: [...this.#refusals].sort(([, one], [, other]) => other - one).map(([rule, calls]) => ({ rule, calls })),
    };
  }

  #end(eventType: string, facts: JsonObject): void {
    this.#calls += 1;
    this.#toolOf(facts).calls += 1;
    if (eventType !== "tool_execution_denied") return;
    this.#refusedCalls += 1;
    const rule = wordIn(facts, "ruleId");
    this.#refusals.set(rule, (this.#refusals.get(rule) ?? 0) + 1);
  }

  #decided(facts: JsonObject): void {
    const ref = wordIn(facts, "approvalRef");
    if (facts["holds"] === true && !this.#answers.has(ref)) this.#answers.set(ref, facts["approved"] === true);
  }

  #requested(facts: JsonObject): void {
    const answer = this.#answers.get(wordIn(facts, "approvalRef"));
    const rules = Array.isArray(facts["rules"]) ? facts["rules"].map(String) : [];
    const counts = [this.#all, this.#toolOf(facts), ...rules.map((rule) => countsOf(this.#rules, rule))];
    for (const one of counts) {
      one.asked += 1;
      if (answer === true) one.approved += 1;
      if (answer === false) one.refused += 1;
    }
  }

  #toolOf(facts: JsonObject) {
    const tool = wordIn(facts, "tool");
    const counts = this.#tools.get(tool) ?? { asked: 0, approved: 0, refused: 0, calls: 0 };
    this.#tools.set(tool, counts);
    return counts;
  }
}

function countsOf(all: Map<string, Counts>, name: string): Counts {
  const counts = all.get(name) ?? { asked: 0, approved: 0, refused: 0 };
  all.set(name, counts);
  return counts;
}

function sorted<C extends Counts>(all: ReadonlyMap<string, C>): readonly (readonly [string, C])[] {
  return [...all].sort(([left, one], [right, other]) => other.asked - one.asked || (left < right ? -1 : 1));
}

function shown({ asked, approved, refused }: Counts): Asked {
  return { asked, approved, refused, unanswered: asked - approved - refused };
}

function wordIn(facts: JsonObject, name: string): string {
  const value = facts[name];
  return typeof value === "string" ? value : "";
}

function factsOf({ payload }: LedgerRecord): JsonObject {
  const read: unknown = payload === undefined ? undefined : JSON.parse(textOf(payload) ?? "null");
  return isJsonObject(read) ? read : {};
}
