/**
 * `handrail policy`: check policy files, run their examples, compare candidates, and explain how a call would be
 * decided.
 */

import { resolve } from "node:path";
import type { Command } from "commander";
import { REPLAY_ENTRIES_DEFAULT } from "../../base/limits.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { directoriesOf, type KernelFlags, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { timeOf, wholeNumber } from "../terminal/inputs.ts";
import { failedChecks, print, printJson, visible } from "../terminal/output.ts";
import { addPolicyExplainCommand } from "./policy-explain.ts";
import { addPolicyLearnCommand } from "./policy-learn.ts";

interface CheckFlags {
  readonly config?: string;
  readonly preset?: string;
  readonly json?: boolean;
}

interface DiffFlags extends KernelFlags {
  readonly since?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** Adds `handrail policy`. */
export function addPolicyCommand(program: Command): void {
  const policy = program.command("policy").description("check, test, compare and explain policy");
  policy
    .command("check")
    .description("validate the shipped and the operator's policies; exit 1 if a file is not valid")
    .option("--config <directory>", "operator directory")
    .option("--preset <name>", "check one preset only")
    .option("--json", "print JSON")
    .action(async (flags: CheckFlags) => {
      process.exitCode = await check(flags);
    });
  policy
    .command("test [directory]")
    .description("run the examples beside the policies, of the operator or of a candidate; exit 1 if one fails")
    .option("--config <directory>", "operator directory")
    .option("--json", "print JSON")
    .action(async (directory: string | undefined, flags: CheckFlags) => {
      process.exitCode = await test(directory, flags);
    });
  const diff = policy
    .command("diff <candidate>")
    .alias("replay")
    .description(
      "replay the ledger's calls against candidate policies and list what would change; exit 1 if anything would",
    )
    .option("--since <time>", "only calls since then: a duration such as 2d, or a date such as 2026-01-31")
    .option("--limit <number>", "look at the last so many entries", String(REPLAY_ENTRIES_DEFAULT))
    .option("--json", "print JSON");
  withKernelOptions(diff).action(async (candidate: string, flags: DiffFlags) => {
    process.exitCode = await compare(candidate, flags);
  });
  addPolicyLearnCommand(policy);
  addPolicyExplainCommand(policy);
}

async function check(flags: CheckFlags): Promise<number> {
  const { checkPresets } = await import("../../server/policy/policy-check.ts");
  const report = await checkPresets(process.env, directoriesOf(flags).configDirectory, flags.preset);
  const failed = report.presets.filter(({ ok }) => !ok).length + report.examples.length;
  if (flags.json) printJson(report, report.ok ? undefined : failedChecks(Math.max(failed, 1), "of policies"));
  for (const preset of flags.json ? [] : report.presets) {
    for (const problem of preset.problems) print(visible(problem));
    print(preset.ok ? `${preset.preset}: ${preset.policies} policies, ${preset.hash}` : `${preset.preset}: not valid`);
  }
  for (const failing of flags.json ? [] : report.examples) print(visible(failing));
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}

async function test(directory: string | undefined, flags: CheckFlags): Promise<number> {
  const { testPolicies } = await import("../../server/policy/policy-test.ts");
  const { formatFailure } = await import("../../server/policy/policy-examples.ts");
  const place = {
    environment: process.env,
    ...directoriesOf(flags),
    ...(directory !== undefined && { candidate: resolve(directory) }),
  };
  const report = await testPolicies(place);
  const failed = (one: typeof report.own) => one.results.filter(({ ok }) => !ok).length;
  if (flags.json) {
    const count = Math.max(failed(report.own) + failed(report.shipped), 1);
    printJson(report, report.ok ? undefined : failedChecks(count, "of policy examples"));
    return report.ok ? EXIT_OK : EXIT_FAILURE;
  }
  for (const problem of [...report.own.problems, ...report.shipped.problems]) print(visible(problem));
  for (const result of [...report.own.results, ...report.shipped.results.filter(({ ok }) => !ok)]) {
    const { file, line, request, preset, found } = result;
    print(
      visible(
        result.ok
          ? `ok    ${file}:${line}  ${request} under preset \`${preset}\`: ${found}`
          : `FAIL  ${formatFailure(result)}`,
      ),
    );
  }
  print(`${report.own.results.length} examples of ${visible(report.directory)}, ${failed(report.own)} failed`);
  print(`${report.shipped.results.length} examples of the shipped presets, ${failed(report.shipped)} failed`);
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}

async function compare(candidate: string, flags: DiffFlags): Promise<number> {
  const { replayLedger } = await import("../../server/policy/policy-replay.ts");
  const report = await replayLedger({
    environment: process.env,
    ...directoriesOf(flags),
    candidate: resolve(candidate),
    stateDirectory: stateDirectoryOf(flags),
    entriesMax: wholeNumber(flags.limit, "--limit"),
    ...(flags.since !== undefined && { sinceMs: timeOf(flags.since) }),
  });
  const changed = Object.values(report.changed).reduce((sum, count) => sum + count, 0);
  const problem = { code: "WOULD_CHANGE", message: `${changed} calls would be decided otherwise` };
  if (flags.json) printJson(report, changed === 0 ? undefined : problem);
  else printReplay(report, changed);
  return changed === 0 ? EXIT_OK : EXIT_FAILURE;
}

type ReplayReport = Awaited<ReturnType<typeof import("../../server/policy/policy-replay.ts").replayLedger>>;

function printReplay(report: ReplayReport, changed: number): void {
  const decision = ({ decision: word, rules, obligations }: ReplayReport["changes"][number]["recorded"]) =>
    `${word} by ${rules.join(", ")}${obligations.length === 0 ? "" : `, needing ${obligations.join(", ")}`}`;
  for (const change of report.changes) {
    const touched = change.accesses.length === 0 ? "" : ` ${change.accesses.join(", ")}`;
    print(
      visible(
        `${change.kind}: entry ${change.sequence}, ${change.time}, ${change.tool}${touched} by role ${change.role} under preset ${change.preset}: ${decision(change.recorded)} -> ${decision(change.candidate)}`,
      ),
    );
  }
  if (changed > report.changes.length) print(`and ${changed - report.changes.length} more changes`);
  const counts = Object.entries(report.changed).filter(([, count]) => count > 0);
  const detail = counts.length === 0 ? "" : ` (${counts.map(([kind, count]) => `${count} ${kind}`).join(", ")})`;
  print(
    `${report.replayed} calls of ${report.entries} entries replayed against ${visible(report.directory)}: ${changed} would change${detail}`,
  );
  for (const [reason, count] of Object.entries(report.notReplayed)) print(`not replayed, ${count}: ${reason}`);
}
