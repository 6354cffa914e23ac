/** `handrail policy`: check policy files, and explain why a call would be decided as it would. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { EXIT_DENIED, EXIT_FAILURE, EXIT_OK } from "../exit-codes.ts";
import { currentUser, parseJsonObject } from "../inputs.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../kernel-options.ts";
import { print, printJson, visible } from "../output.ts";

interface CheckFlags {
  readonly config?: string;
  readonly preset?: string;
  readonly json?: boolean;
}

interface ExplainFlags extends KernelFlags {
  readonly arguments: string;
  readonly workspace: string;
  readonly role?: string;
  readonly preset?: string;
  readonly json?: boolean;
}

/** Adds `handrail policy`. */
export function addPolicyCommand(program: Command): void {
  const policy = program.command("policy").description("check and explain policy");
  policy
    .command("check")
    .description("validate the shipped and the operator's policies; exit 1 if a file is not valid")
    .option("--config <directory>", "operator directory")
    .option("--preset <name>", "check one preset only")
    .option("--json", "print JSON")
    .action(async (flags: CheckFlags) => {
      process.exitCode = await check(flags);
    });
  const explain = policy
    .command("explain <tool>")
    .description("say which layer and rule decide a call, and the narrowest permit that would allow it; exit 2 if it would not run")
    .option("--arguments <json>", "arguments of the call as a JSON object", "{}")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--role <role>", "role to judge for (default: dev)")
    .option("--preset <name>", "preset to judge by")
    .option("--json", "print JSON");
  withKernelOptions(explain).action(async (tool: string, flags: ExplainFlags) => {
    process.exitCode = await explainCall(tool, flags);
  });
}

async function check(flags: CheckFlags): Promise<number> {
  const { checkPresets } = await import("../../server/policy-check.ts");
  const report = await checkPresets(process.env, flags.config === undefined ? undefined : resolve(flags.config), flags.preset);
  if (flags.json) printJson(report);
  for (const preset of flags.json ? [] : report.presets) {
    for (const problem of preset.problems) print(visible(problem));
    print(preset.ok ? `${preset.preset}: ${preset.policies} policies, ${preset.hash}` : `${preset.preset}: not valid`);
  }
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}

function explainCall(tool: string, flags: ExplainFlags): Promise<number> {
  const args = parseJsonObject(flags.arguments, "--arguments");
  return withKernel(flags, async (kernel) => {
    const who = await kernel.administration.imagineSession({
      workspace: flags.workspace,
      ...(flags.role !== undefined && { role: flags.role }),
      ...(flags.preset !== undefined && { preset: flags.preset }),
      userId: currentUser(),
      agentId: "explain",
      askedBy: "operator",
    });
    const explanation = await kernel.door.explain(who, tool, args);
    const denied =
      explanation.denial !== undefined ||
      explanation.accesses.some(({ policy }) => policy.verdict.decision === "deny" || policy.verdict.obligations.length > 0);
    if (flags.json) printJson(explanation);
    else printExplanation(explanation);
    return denied ? EXIT_DENIED : EXIT_OK;
  });
}

type CallExplanation = Awaited<ReturnType<import("../../server/compose.ts").OpenKernel["door"]["explain"]>>;

function printExplanation({ tool, denial, accesses }: CallExplanation): void {
  if (denial) print(visible(`${tool}: denied by ${denial.ruleId} (${denial.layer}, ${denial.reason}): ${denial.message}`));
  for (const { resource, effect, policy } of accesses) {
    print(visible(`${tool} ${effect} ${resource}: ${policy.verdict.decision} by ${policy.decidedBy.join(", ")}`));
    if (policy.verdict.decision === "allow") {
      for (const due of policy.verdict.obligations) print(visible(`  needs ${due.obligation} by ${due.ruleId} ${due.reason}`));
    } else if (policy.verdict.message !== undefined) print(visible(`  ${policy.verdict.message}`));
    for (const rule of policy.matching) print(visible(`  ${rule.outcome} ${rule.effect} ${rule.id} (${rule.file}:${rule.line})`));
    if (policy.narrowestPermit) print(`  the narrowest permit that would allow it:\n${policy.narrowestPermit.replace(/^/gm, "    ")}`);
  }
}
