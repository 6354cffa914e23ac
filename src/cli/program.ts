/** The tree of commands of `handrail`, in the groups in which `--help` shows them. */
import { Command } from "commander";
import { handrailVersion } from "../server/operator/package-files.ts";
import { addAdminCommand } from "./commands/admin.ts";
import { addApprovalsCommand, addDecideCommands } from "./commands/approvals.ts";
import { addApproversCommand } from "./commands/approvers.ts";
import { addArmCommand, addDisarmCommand } from "./commands/arm.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBranchesCommand } from "./commands/branches.ts";
import { addBudgetsCommand } from "./commands/budgets.ts";
import { addCallCommand } from "./commands/call.ts";
import { addCasCommand } from "./commands/cas.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addHistoryCommand, addUndoCommand } from "./commands/history.ts";
import { addInitCommand } from "./commands/init.ts";
import { addKillCommand, addResumeCommand } from "./commands/kill.ts";
import { addLabelsCommand } from "./commands/labels.ts";
import { addLandingsCommand } from "./commands/landings.ts";
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
import { addToolsCommand } from "./commands/tools.ts";
import { addTrustCommand } from "./commands/trust.ts";
import { addWireCommand } from "./commands/wire.ts";

type AddCommand = (program: Command) => void;

/** What people come for first stands first. */
const GROUPS: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ["Begin:", [addInitCommand, addStartCommand, addDoctorCommand]],
  ["Serve agents:", [addMcpCommand, addServeCommand, addRunCommand]],
  [
    "Make calls:",
    [addToolsCommand, addCallCommand, addHistoryCommand, addUndoCommand, addBranchesCommand, addLandingsCommand],
  ],
  [
    "Approve and stop:",
    [addApprovalsCommand, addDecideCommands, addArmCommand, addDisarmCommand, addKillCommand, addResumeCommand],
  ],
  [
    "Say who may do what:",
    [
      addSessionsCommand,
      addLeasesCommand,
      addBudgetsCommand,
      addPolicyCommand,
      addTrustCommand,
      addRolesCommand,
      addModesCommand,
      addSkillsCommand,
      addApproversCommand,
      addAdminCommand,
    ],
  ],
  ["See what happened:", [addAuditCommand, addLedgerCommand, addLabelsCommand, addCasCommand, addRedactCommand]],
  ["For programs:", [addWireCommand, addCompletionCommand]],
];

const EXAMPLES = `
Examples:
  handrail start --workspace .                     show the kernel at work here, and keep serving
  handrail mcp --workspace .                       what an MCP client starts
  handrail tools                                   what agents may call
  handrail call read_file path=README.md           make one call
  handrail approvals watch                         decide what agents ask for
  handrail audit tail --since 1h                   what was refused, approved or frozen
  handrail ledger verify                           whether the evidence is whole

\`handrail COMMAND --help\` shows options and examples of a command.`;

/** The command line, ready to parse. What it is given wrongly it throws, as commander's error. */
export function createProgram(): Command {
  const program = new Command("handrail")
    .description("the governed choke point between an AI agent and this machine")
    .version(handrailVersion())
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // whoever runs it says what went wrong
    .addHelpText("after", EXAMPLES);
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const add of commands) add(program);
  }
  return program;
}
