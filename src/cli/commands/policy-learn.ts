/** `handrail policy learn`: which permits and which lease would have made a recorded time quiet; a person accepts. */
import type { Command } from "commander";
import { LEASE_DIMENSIONS, type LeaseScope } from "../../model/people/lease.ts";
import { quoted } from "../../model/place/command.ts";
import type { Learned, LearnedFile } from "../../server/policy/learn/learn.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { currentUser, timeOf } from "../terminal/inputs.ts";
import { print, printJson, say, visible } from "../terminal/output.ts";

interface LearnFlags extends KernelFlags {
  readonly since?: string;
  readonly write?: boolean;
  readonly json?: boolean;
}

/** Past calls that are listed; the rest are counted. */
const PAST_LISTED_MAX = 20;

/** Adds `handrail policy learn`. */
export function addPolicyLearnCommand(policy: Command): void {
  const learn = policy
    .command("learn")
    .description(
      "propose the permits and the smallest lease that would have made a recorded time quiet, and say what is left out",
    )
    .option("--since <time>", "only what was asked since then: a duration such as 1d, or a date such as 2026-01-31")
    .option("--write", "write the permits and their examples to the operator's policies")
    .option("--json", "print JSON");
  withKernelOptions(learn).action(async (flags: LearnFlags) => {
    await withKernel(flags, async ({ policyParts }) => {
      const { learnFrom, writeLearned } = await import("../../server/policy/learn/learn.ts");
      const sinceMs = flags.since === undefined ? undefined : timeOf(flags.since);
      const learned = await learnFrom(policyParts, sinceMs);
      const written = flags.write === true && learned.files !== undefined;
      if (written) await writeLearned(policyParts, learned, currentUser());
      if (flags.json) printJson({ ...learned, lease_flags: flagsOf(learned.lease), written });
      else printLearned(learned, written);
    });
  });
}

function printLearned({ calls, asked, quiet, permits, leftOut, lease, files, past }: Learned, written: boolean): void {
  print(`${calls} calls, ${asked} requests; ${quiet} of them would not be asked by ${permits.length} permits`);
  if (files !== undefined) {
    print("");
    for (const file of [files.policy, files.examples]) for (const line of diffOf(file)) print(visible(line));
  }
  if (past !== undefined) {
    const allowed = Object.values(past.changed).reduce((sum, count) => sum + count, 0);
    print(`\npast calls that the permits would have allowed: ${allowed} of ${past.entries} entries`);
    for (const { sequence, time, tool, accesses } of past.changes.slice(0, PAST_LISTED_MAX))
      print(visible(`  entry ${sequence}, ${time}, ${tool}: ${accesses.join(", ")}`));
    if (past.changes.length > PAST_LISTED_MAX) print(`  and ${past.changes.length - PAST_LISTED_MAX} more`);
  }
  if (leftOut.length > 0) print("\nleft out on purpose, and asked again:");
  for (const { tool, rules, target, why, entries } of leftOut)
    print(visible(`  ${entries.length} of ${tool} ${target} (${rules.join(", ")}): ${why}`));
  print("\nthe smallest lease for what ran:");
  print(visible(`  handrail sessions create ${flagsOf(lease)}`));
  if (written) print(`\nwritten to ${files?.policy.file ?? ""}; it holds for the next call, in every running kernel`);
  else if (files !== undefined) say("handrail: nothing is written yet; look at it, and run this again with --write");
}

/** A new file as a unified diff. */
function diffOf({ file, text }: LearnedFile): readonly string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return ["--- /dev/null", `+++ ${file}`, `@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`)];
}

const FLAGS: Readonly<Record<keyof LeaseScope, string>> = {
  tools: "--tools",
  readPaths: "--read",
  writePaths: "--write",
  commands: "--commands",
  gitOperations: "--git",
  hosts: "--hosts",
  providers: "--providers",
  models: "--models",
  artifacts: "--artifacts",
};

/** The lease as options of `handrail sessions create`; `none` is a name that nothing has. */
function flagsOf(lease: LeaseScope): string {
  return LEASE_DIMENSIONS.flatMap((dimension) =>
    lease[dimension].map((patterns) =>
      [FLAGS[dimension], ...(patterns.length === 0 ? ["none"] : patterns.map(quoted))].join(" "),
    ),
  ).join(" ");
}
