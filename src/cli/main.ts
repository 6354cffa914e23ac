/**
 * `handrail`: the command line. Commands load what they need when they run, so that starting stays quick.
 *
 * Standard output carries data alone. Every failure is one line on standard error that says what to do next.
 */
import { Command } from "commander";
import { KernelError } from "../base/errors.ts";
import { handrailVersion } from "../server/operator/version.ts";
import { addAdminCommand } from "./commands/admin.ts";
import { addApprovalsCommand, addDecideCommands } from "./commands/approvals.ts";
import { addApproversCommand } from "./commands/approvers.ts";
import { addArmCommand, addDisarmCommand } from "./commands/arm.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBranchesCommand } from "./commands/branches.ts";
import { addBudgetsCommand } from "./commands/budgets.ts";
import { addCallCommand } from "./commands/call.ts";
import { addCasCommand } from "./commands/cas.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addHistoryCommand, addUndoCommand } from "./commands/history.ts";
import { addInitCommand } from "./commands/init.ts";
import { addKillCommand, addResumeCommand } from "./commands/kill.ts";
import { addLabelsCommand } from "./commands/labels.ts";
import { addLedgerCommand } from "./commands/ledger.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addPolicyCommand } from "./commands/policy.ts";
import { addModesCommand, addSkillsCommand } from "./commands/profiles.ts";
import { addRedactCommand } from "./commands/redact.ts";
import { addRolesCommand } from "./commands/roles.ts";
import { addRunCommand } from "./commands/run.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addLeasesCommand, addSessionsCommand } from "./commands/sessions.ts";
import { addStartCommand } from "./commands/start.ts";
import { addTrustCommand } from "./commands/trust.ts";
import { addWireCommand } from "./commands/wire.ts";
import { EXIT_FAILURE } from "./terminal/exit-codes.ts";
import { say, visible } from "./terminal/output.ts";

const program = new Command("handrail")
  .description("the governed choke point between an AI agent and this machine")
  .version(handrailVersion())
  .showHelpAfterError("(add --help for usage)");
for (const add of [
  addInitCommand,
  addStartCommand,
  addServeCommand,
  addMcpCommand,
  addCallCommand,
  addRunCommand,
  addBranchesCommand,
  addSessionsCommand,
  addLeasesCommand,
  addBudgetsCommand,
  addModesCommand,
  addSkillsCommand,
  addApprovalsCommand,
  addDecideCommands,
  addArmCommand,
  addDisarmCommand,
  addAdminCommand,
  addApproversCommand,
  addPolicyCommand,
  addTrustCommand,
  addRolesCommand,
  addLabelsCommand,
  addKillCommand,
  addResumeCommand,
  addAuditCommand,
  addHistoryCommand,
  addUndoCommand,
  addLedgerCommand,
  addRedactCommand,
  addCasCommand,
  addWireCommand,
  addDoctorCommand,
]) {
  add(program);
}

try {
  await program.parseAsync();
} catch (error) {
  await sayEnd(error);
  process.exitCode = EXIT_FAILURE;
}

/** Says what ended the command, unless the kernel's log has just said the same. */
async function sayEnd(error: unknown): Promise<void> {
  if (!(error instanceof KernelError) || error.code === "INTERNAL") {
    say(`handrail: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return;
  }
  const { wasTold } = await import("../server/report.ts");
  if (!wasTold(error.message)) say(`handrail: ${error.message.split("\n").map(visible).join("\n")}`);
}
