/** `handrail audit`: watch what matters for security, as it is recorded. */
import { type Command, Option } from "commander";
import type { SecurityEvent, Severity } from "../../server/ledger/audit-stream.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { onStop } from "../start/stop-signals.ts";
import { timeOf, wholeNumber } from "../terminal/inputs.ts";
import { print, printJson, visible, wordOf } from "../terminal/output.ts";

/** Known here so that the command line starts without loading the ledger; mildest first. */
const SEVERITIES: readonly Severity[] = ["info", "warning", "critical"];

interface AuditFlags {
  readonly state?: string;
  readonly json?: boolean;
  readonly format?: "audit" | "ocsf";
  readonly follow?: boolean;
  readonly since?: string;
  readonly severity: Severity;
  readonly count: string;
}

/** Adds `handrail audit`. */
export function addAuditCommand(program: Command): void {
  const audit = program
    .command("audit")
    .description("the security audit: violations, refusals, approvals, arming, freezes and the like");
  audit
    .command("tail")
    .description("show the last events, oldest first")
    .option("-n, --count <number>", "how many", "20")
    .option(
      "--since <time>",
      "everything since then instead: a duration such as 2h, or a date such as 2026-03-01T12:00:00Z",
    )
    .addOption(new Option("--severity <level>", "at least so severe").choices(SEVERITIES).default("info"))
    .option("-f, --follow", "go on with what comes")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON, one event in a line")
    .addOption(
      new Option("--format <format>", "audit: as --json says; ocsf: JSON as OCSF has it, one event in a line").choices([
        "audit",
        "ocsf",
      ]),
    )
    .action(tail);
}

async function tail(flags: AuditFlags): Promise<void> {
  const { withLedgerReader } = await import("../../server/ledger/ledger-reader.ts");
  const { securityAudit, ocsfEvents } = await import("../../server/ledger/audit-stream.ts");
  const stateDirectory = stateDirectoryOf(flags);
  const ocsf = flags.format === "ocsf" ? ocsfEvents() : undefined;
  const query = {
    severity: flags.severity,
    count: wholeNumber(flags.count, "--count"),
    ...(flags.since !== undefined && { sinceMs: timeOf(flags.since) }),
  };
  const stop = new AbortController();
  onStop(() => stop.abort());
  // Whoever reads the output may end first.
  process.stdout.once("error", () => stop.abort());
  await withLedgerReader(stateDirectory, async (reader) => {
    const follow = flags.follow ? { stateDirectory, signal: stop.signal } : undefined;
    for await (const event of securityAudit(reader, query, follow)) {
      if (ocsf !== undefined) print(JSON.stringify(ocsf(event)));
      else if (flags.json) printJson(event);
      else print(auditLine(event));
    }
  });
}

/** One line about an event; what agents chose is escaped. */
export function auditLine({
  timestamp,
  severity,
  sequence,
  event,
  actor,
  violation_type,
  target_path,
  command_args,
  details,
}: SecurityEvent): string {
  const told = ["name", "tool", "reason", "ruleId", "errorCode", "scope", "cause"].map((name) => details?.[name]);
  const words = [violation_type, target_path, ...(command_args ?? []), ...told]
    .filter((word) => word !== undefined && word !== "")
    .map(wordOf);
  return visible(
    `${timestamp}  ${severity.padEnd(8)}  ${String(sequence).padStart(6)}  ${event.padEnd(22)} ${actor}  ${words.join(" ")}`,
  );
}
