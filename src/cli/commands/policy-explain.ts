/** `handrail policy explain`: which layer and rule decide a call, and the narrowest change that would let it run. */

import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import { callArguments } from "../start/call-arguments.ts";
import { type ServingFlags, UNUSUAL, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { requireTool } from "../start/named-tool.ts";
import { type SessionFlags, wishOf, withSessionOptions } from "../start/session-options.ts";
import { EXIT_DENIED, EXIT_OK } from "../terminal/exit-codes.ts";
import { currentUser, parseJsonObject, readTextFile } from "../terminal/inputs.ts";
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
    .command("explain <tool> [arguments...]")
    .description(
      "say which layer and rule decide a call, and the narrowest change that would let it run; exit 2 if it would not run",
    )
    .option("--arguments <json>", "arguments of the call as a JSON object, besides those given as words", "{}");
  const said = { role: "role to judge for (default: dev)", preset: "preset to judge by" };
  const explain = withSessionOptions(made, said)
    .option("--lease <id>", "lease to judge under (default: one that covers everything)")
    .option(...UNUSUAL)
    .option("--json", "print JSON");
  withKernelOptions(explain)
    .addHelpText(
      "after",
      `
Arguments are words as \`handrail call\` takes them.

Examples:
  handrail policy explain write_file path=CLAUDE.md content=x
  handrail policy explain shell command='npm test' --preset autonomous
  handrail policy explain call_tool name=mcp.notes.delete arguments:='{"id":"7"}'`,
    )
    .action(async (tool: string, words: readonly string[], flags: ExplainFlags) => {
      process.exitCode = await explainCall(tool, words, flags);
    });
}

function explainCall(tool: string, words: readonly string[], flags: ExplainFlags): Promise<number> {
  const base = parseJsonObject(flags.arguments, "--arguments");
  return withKernel(flags, async (kernel) => {
    const args =
      words.length === 0
        ? base
        : await callArguments(words, { tool: await calledTool(kernel, tool), base, readFile: readTextFile });
    const imagined = await kernel.administration.imagineSession({
      ...wishOf(flags),
      userId: currentUser(),
      agentId: "explain",
    });
    const lease = flags.lease === undefined ? imagined.lease : await leaseOf(kernel, flags.lease);
    const explanation = await kernel.explain({ ...imagined, lease }, { tool, args });
    const outcome = outcomeOf(explanation);
    if (flags.json)
      printJson(explanation, explanation.runs ? undefined : { code: outcome.code, message: outcome.text });
    else printExplanation(explanation, outcome.text);
    return explanation.runs ? EXIT_OK : EXIT_DENIED;
  });
}

/** Also the one that stands for the tool which it names. */
async function calledTool(kernel: import("../../server/compose.ts").OpenKernel, name: string) {
  const { CALL_TOOL } = await import("../../server/compose.ts");
  return name === CALL_TOOL.name ? CALL_TOOL : requireTool(kernel, name);
}

async function leaseOf(kernel: import("../../server/compose.ts").OpenKernel, id: string) {
  const found = (await kernel.administration.listLeases()).find((lease) => lease.id === id);
  if (found) return found;
  throw usageError(`there is no lease \`${id}\`; \`handrail leases list\` shows them`);
}

/** What would come of the call, in one line and as a code. */
function outcomeOf({ tool, runs, denial, accesses, armed }: AdvisedExplanation): {
  readonly code: string;
  readonly text: string;
} {
  if (runs) return { code: "RUNS", text: `${tool} would run` };
  if (denial)
    return {
      code: denial.reason.toUpperCase(),
      text: `${tool}: denied by ${denial.ruleId} (${denial.layer}, ${denial.reason}): ${denial.message}`,
    };
  const due: { readonly obligation: string; readonly ruleId: string; readonly reason?: string | undefined }[] = [];
  for (const { policy } of accesses) {
    if (policy.verdict.decision === "deny")
      return { code: "DENIED", text: `${tool} would be denied by ${policy.decidedBy.join(", ")}` };
    due.push(...policy.verdict.obligations.filter(({ obligation }) => obligation !== "arm" || !armed));
  }
  const asks = due.find(({ obligation }) => obligation === "ask");
  const needs = asks ?? due[0];
  const what = asks ? "asks: a person has to approve it" : `does not run yet: it needs ${due[0]?.obligation ?? "more"}`;
  const by = needs === undefined ? "" : ` (${needs.ruleId}${needs.reason ? `: ${needs.reason}` : ""})`;
  return { code: asks ? "TOOL_APPROVAL_REQUIRED" : "DENIED", text: `${tool} ${what}${by}` };
}

function printExplanation(explanation: AdvisedExplanation, outcome: string): void {
  const { tool, accesses, armed, advice, stuck, notes } = explanation;
  print(visible(outcome));
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
