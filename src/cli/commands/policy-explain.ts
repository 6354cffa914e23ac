/** `handrail policy explain`: which layer and rule decide a call, and the narrowest change that would let it run. */

import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { type ServingFlags, UNUSUAL, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { EXIT_DENIED, EXIT_OK } from "../terminal/exit-codes.ts";
import { currentUser, parseJsonObject } from "../terminal/inputs.ts";
import { print, printJson, visible } from "../terminal/output.ts";

interface ExplainFlags extends ServingFlags, SessionFlags {
  readonly arguments: string;
  readonly lease?: string;
  readonly json?: boolean;
}

type AdvisedExplanation = Awaited<ReturnType<import("../../server/compose.ts").OpenKernel["explain"]>>;

/** Adds `handrail policy explain`. */
export function addPolicyExplainCommand(policy: Command): void {
  const made = policy
    .command("explain <tool>")
    .description(
      "say which layer and rule decide a call, and the narrowest change that would let it run; exit 2 if it would not run",
    )
    .option("--arguments <json>", "arguments of the call as a JSON object", "{}");
  const said = { role: "role to judge for (default: dev)", preset: "preset to judge by" };
  const explain = withSessionOptions(made, said)
    .option("--lease <id>", "lease to judge under (default: one that covers everything)")
    .option(...UNUSUAL)
    .option("--json", "print JSON");
  withKernelOptions(explain).action(async (tool: string, flags: ExplainFlags) => {
    process.exitCode = await explainCall(tool, flags);
  });
}

function explainCall(tool: string, flags: ExplainFlags): Promise<number> {
  const args = parseJsonObject(flags.arguments, "--arguments");
  return withKernel(flags, async (kernel) => {
    const imagined = await kernel.administration.imagineSession({
      ...wishOf(flags),
      userId: currentUser(),
      agentId: "explain",
    });
    const lease = flags.lease === undefined ? imagined.lease : await leaseOf(kernel, flags.lease);
    const explanation = await kernel.explain({ ...imagined, lease }, { tool, args });
    if (flags.json) printJson(explanation);
    else printExplanation(explanation);
    return explanation.runs ? EXIT_OK : EXIT_DENIED;
  });
}

async function leaseOf(kernel: import("../../server/compose.ts").OpenKernel, id: string) {
  const found = (await kernel.administration.listLeases()).find((lease) => lease.id === id);
  if (found) return found;
  throw usageError(`there is no lease \`${id}\`; \`handrail leases list\` shows them`);
}

function printExplanation({ tool, denial, accesses, armed, advice, stuck, notes }: AdvisedExplanation): void {
  if (denial)
    print(visible(`${tool}: denied by ${denial.ruleId} (${denial.layer}, ${denial.reason}): ${denial.message}`));
  for (const { resource, effect, zone, reasons = [], obeyed, policy } of accesses) {
    const where = zone === undefined || zone === "own" ? "" : ` (zone ${zone})`;
    print(
      visible(`${tool} ${effect} ${resource}${where}: ${policy.verdict.decision} by ${policy.decidedBy.join(", ")}`),
    );
    for (const reason of reasons) print(visible(`  marked: ${reason}`));
    if (obeyed) print(visible(`  protected as \`${obeyed.pattern}\`: ${obeyed.reason} (${obeyed.source})`));
    if (policy.verdict.decision === "allow") {
      for (const due of policy.verdict.obligations)
        print(
          visible(
            `  needs ${due.obligation} by ${due.ruleId} ${due.reason}${due.obligation === "arm" && armed ? " (armed)" : ""}`,
          ),
        );
    } else if (policy.verdict.message !== undefined) print(visible(`  ${policy.verdict.message}`));
    for (const rule of policy.matching)
      print(visible(`  ${rule.outcome} ${rule.effect} ${rule.id} (${rule.file}:${rule.line})`));
  }
  if (advice.length > 0)
    print(`the narrowest change that would let it run${advice.length > 1 ? ", all of it together" : ""}:`);
  for (const { change, text } of advice) {
    print(visible(`  ${change}`));
    if (text !== undefined) print(text.trimEnd().replace(/^/gm, "    "));
  }
  if (stuck !== undefined) print(visible(`no change would let it run: ${stuck}`));
  for (const note of notes) print(visible(`note: ${note}`));
}
