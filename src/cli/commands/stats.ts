/** `handrail stats`: how often people were asked, by which rules, and what came of it. */
import type { Command } from "commander";
import type { Asked, PromptStats } from "../../server/policy/prompt-stats.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { timeOf } from "../terminal/inputs.ts";
import { print, printJson, table, visible, wordOf } from "../terminal/output.ts";

interface StatsFlags {
  readonly state?: string;
  readonly since?: string;
  readonly json?: boolean;
}

/** Adds `handrail stats`. */
export function addStatsCommand(program: Command): void {
  const stats = program.command("stats").description("what the ledger says in numbers");
  stats
    .command("prompts")
    .description("how often people were asked, by which rules and tools, and what they said; and what was refused")
    .option("--since <time>", "since then: a duration such as 7d, or a date such as 2026-03-01T12:00:00Z")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON")
    .action(prompts);
  stats
    .command("metrics")
    .description("what all kernels of a state directory did, as Prometheus text: for a collector of text files")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON")
    .action(metrics);
}

async function metrics(flags: Pick<StatsFlags, "state" | "json">): Promise<void> {
  const [{ withLedgerReader }, { ledgerMetrics }] = await Promise.all([
    import("../../server/ledger/ledger-reader.ts"),
    import("../../server/metrics/ledger-metrics.ts"),
  ]);
  const directory = stateDirectoryOf(flags);
  const counted = await withLedgerReader(directory, (reader) => ledgerMetrics(reader, directory));
  if (flags.json) return printJson(await counted.json());
  print((await counted.text()).trimEnd());
}

async function prompts(flags: StatsFlags): Promise<void> {
  const [{ withLedgerReader }, { promptStats }] = await Promise.all([
    import("../../server/ledger/ledger-reader.ts"),
    import("../../server/policy/prompt-stats.ts"),
  ]);
  const sinceMs = flags.since === undefined ? undefined : timeOf(flags.since);
  const found = await withLedgerReader(stateDirectoryOf(flags), (reader) => promptStats(reader, sinceMs));
  if (flags.json) return printJson(found);
  for (const line of linesOf(found)) print(line);
}

function linesOf({ calls, refused_calls: refused, prompts: all, prompts_per_1000: rate, ...by }: PromptStats) {
  const first = `${calls} calls, ${refused} refused; people were asked ${all.asked} times (${rate} per 1,000 calls)`;
  const rules = by.by_rule.map((one) => [one.rule, ...columns(one)].map(wordOf));
  const tools = by.by_tool.map((one) => [one.tool, String(one.calls), ...columns(one)].map(wordOf));
  const refusals = by.refusals.map(({ rule, calls: count }) => [rule, String(count)].map(wordOf));
  return [
    visible(first),
    ...(rules.length === 0 ? [] : ["", table([["ASKED BY RULE", ...HEADINGS], ...rules])]),
    ...(tools.length === 0 ? [] : ["", table([["TOOL", "CALLS", ...HEADINGS], ...tools])]),
    ...(refusals.length === 0 ? [] : ["", table([["REFUSED BY RULE", "CALLS"], ...refusals])]),
  ];
}

const HEADINGS = ["ASKED", "APPROVED", "REFUSED", "UNANSWERED"];

function columns({ asked, approved, refused, unanswered }: Asked): readonly string[] {
  return [asked, approved, refused, unanswered].map(String);
}
