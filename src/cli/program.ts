/** The tree of commands of `handrail`, in the groups in which `--help` shows them. */
import { Command } from "commander";
import { handrailVersion } from "../server/operator/package-files.ts";

type AddCommand = (program: Command) => void;

/** What adds commands, by their names: read when one of them is wanted, so that no start waits for the others. */
type Entry = readonly [names: readonly string[], load: () => Promise<AddCommand>];

/** What people come for first stands first. */
const GROUPS: readonly (readonly [heading: string, entries: readonly Entry[]])[] = [
  [
    "Begin:",
    [
      [["init"], async () => (await import("./commands/init.ts")).addInitCommand],
      [["start"], async () => (await import("./commands/start.ts")).addStartCommand],
      [["setup"], async () => (await import("./commands/setup.ts")).addSetupCommand],
      [["unsetup"], async () => (await import("./commands/setup.ts")).addUnsetupCommand],
      [["doctor"], async () => (await import("./commands/doctor.ts")).addDoctorCommand],
    ],
  ],
  [
    "Serve agents:",
    [
      [["mcp"], async () => (await import("./commands/mcp.ts")).addMcpCommand],
      [["serve"], async () => (await import("./commands/serve.ts")).addServeCommand],
      [["run"], async () => (await import("./commands/run.ts")).addRunCommand],
    ],
  ],
  [
    "Make calls:",
    [
      [["tools"], async () => (await import("./commands/tools.ts")).addToolsCommand],
      [["call"], async () => (await import("./commands/call.ts")).addCallCommand],
      [["calls"], async () => (await import("./commands/calls.ts")).addCallsCommand],
      [["history"], async () => (await import("./commands/history.ts")).addHistoryCommand],
      [["undo"], async () => (await import("./commands/history.ts")).addUndoCommand],
      [["branches"], async () => (await import("./commands/branches.ts")).addBranchesCommand],
      [["landings"], async () => (await import("./commands/landings.ts")).addLandingsCommand],
    ],
  ],
  [
    "Approve and stop:",
    [
      [["approvals"], async () => (await import("./commands/approvals.ts")).addApprovalsCommand],
      [["approve", "deny"], async () => (await import("./commands/approvals.ts")).addDecideCommands],
      [["arm"], async () => (await import("./commands/arm.ts")).addArmCommand],
      [["disarm"], async () => (await import("./commands/arm.ts")).addDisarmCommand],
      [["kill"], async () => (await import("./commands/kill.ts")).addKillCommand],
      [["resume"], async () => (await import("./commands/kill.ts")).addResumeCommand],
    ],
  ],
  [
    "Say who may do what:",
    [
      [["sessions"], async () => (await import("./commands/sessions.ts")).addSessionsCommand],
      [["leases"], async () => (await import("./commands/sessions.ts")).addLeasesCommand],
      [["budgets"], async () => (await import("./commands/budgets.ts")).addBudgetsCommand],
      [["policy"], async () => (await import("./commands/policy.ts")).addPolicyCommand],
      [["trust"], async () => (await import("./commands/trust.ts")).addTrustCommand],
      [["secrets"], async () => (await import("./commands/secrets.ts")).addSecretsCommand],
      [["upstream"], async () => (await import("./commands/upstream.ts")).addUpstreamCommand],
      [["roles"], async () => (await import("./commands/roles.ts")).addRolesCommand],
      [["import"], async () => (await import("./commands/import.ts")).addImportCommand],
      [["modes"], async () => (await import("./commands/profiles.ts")).addModesCommand],
      [["skills"], async () => (await import("./commands/profiles.ts")).addSkillsCommand],
      [["approvers"], async () => (await import("./commands/approvers.ts")).addApproversCommand],
      [["admin"], async () => (await import("./commands/admin.ts")).addAdminCommand],
    ],
  ],
  [
    "See what happened:",
    [
      [["audit"], async () => (await import("./commands/audit.ts")).addAuditCommand],
      [["stats"], async () => (await import("./commands/stats.ts")).addStatsCommand],
      [["net"], async () => (await import("./commands/net.ts")).addNetCommand],
      [["ledger"], async () => (await import("./commands/ledger.ts")).addLedgerCommand],
      [["labels"], async () => (await import("./commands/labels.ts")).addLabelsCommand],
      [["artifacts"], async () => (await import("./commands/artifacts.ts")).addArtifactsCommand],
      [["knowledge"], async () => (await import("./commands/knowledge.ts")).addKnowledgeCommand],
      [["cas"], async () => (await import("./commands/cas.ts")).addCasCommand],
      [["redact"], async () => (await import("./commands/redact.ts")).addRedactCommand],
    ],
  ],
  [
    "For programs:",
    [
      [["wire"], async () => (await import("./commands/wire.ts")).addWireCommand],
      [["completion"], async () => (await import("./commands/completion.ts")).addCompletionCommand],
    ],
  ],
];

/** Commands that look at all others. */
const NEEDS_ALL: ReadonlySet<string> = new Set(["completion"]);

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

/**
 * The command line, ready to parse. What it is given wrongly it throws, as commander's error.
 * @param word the first word of the line: where it names a command, the others are left out
 */
export async function createProgram(word?: string): Promise<Command> {
  const program = new Command("handrail")
    .description("the governed choke point between an AI agent and this machine")
    .version(handrailVersion())
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // whoever runs it says what went wrong
    .addHelpText("after", EXAMPLES);
  const all = GROUPS.flatMap(([heading, entries]) => entries.map(([names, load]) => ({ heading, names, load })));
  const named = all.filter(({ names }) => word !== undefined && !NEEDS_ALL.has(word) && names.includes(word));
  for (const { heading, load } of named.length > 0 ? named : all) {
    program.commandsGroup(heading);
    (await load())(program);
  }
  return program;
}
