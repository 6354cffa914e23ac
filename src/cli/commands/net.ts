/** `handrail net`: which call reached which host, with which secret, and why another one did not. */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { NetAttempt } from "../../server/network/net-attempt.ts";
import type { ExplainedAttempt } from "../../server/network/net-log.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { timeOf, wholeNumber } from "../terminal/inputs.ts";
import { print, printJson, table, visible, wordOf } from "../terminal/output.ts";

interface NetFlags {
  readonly state?: string;
  readonly json?: boolean;
  readonly since?: string;
  readonly host?: string;
  readonly refused?: boolean;
  readonly call?: string;
  readonly count: string;
}

/** Adds `handrail net`. */
export function addNetCommand(program: Command): void {
  const net = program.command("net").description("what calls reached over the network, and what they did not");
  net
    .command("log")
    .description("show the last attempts to reach a host, oldest first")
    .option("-n, --count <number>", "how many", "20")
    .option("--since <time>", "since then: a duration such as 2h, or a date such as 2026-03-01T12:00:00Z")
    .option("--host <name>", "to this host, or to hosts below it")
    .option("--call <request>", "of this call, by its request id")
    .option("--refused", "only what did not go through")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON")
    .action(log);
  net
    .command("explain <request>")
    .description("say of a call, by its request id, what it reached and why, and what would let the rest through")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON")
    .action(explain);
}

async function log(flags: NetFlags): Promise<void> {
  const [{ withLedgerReader }, { netLog }] = await Promise.all([
    import("../../server/ledger/ledger-reader.ts"),
    import("../../server/network/net-log.ts"),
  ]);
  const query = {
    count: wholeNumber(flags.count, "--count"),
    ...(flags.since !== undefined && { sinceMs: timeOf(flags.since) }),
    ...(flags.host !== undefined && { host: flags.host.toLowerCase() }),
    ...(flags.call !== undefined && { requestId: flags.call }),
    ...(flags.refused === true && { isRefused: true }),
  };
  const attempts = await withLedgerReader(stateDirectoryOf(flags), (reader) => netLog(reader, query));
  if (flags.json) return printJson(attempts);
  if (attempts.length === 0) return print("nothing was reached, and nothing was tried");
  print(table([HEADINGS, ...attempts.map(rowOf)]));
}

const HEADINGS = ["TIME", "OUTCOME", "HOST", "TOOL", "SECRETS", "OUT", "IN", "CALL", "WHY"];

function rowOf(attempt: NetAttempt): string[] {
  const { timestamp, outcome, host, port, tool, secrets, bytes_out: out, bytes_in: into } = attempt;
  const words = [timestamp, outcome, host === "" ? "-" : `${host}:${port}`, tool, secrets.join(",") || "-"];
  return [...words, String(out), String(into), attempt.request_id, attempt.reason ?? "-"].map(wordOf);
}

async function explain(request: string, flags: Pick<NetFlags, "state" | "json">): Promise<void> {
  const [{ withLedgerReader }, { explainCall }] = await Promise.all([
    import("../../server/ledger/ledger-reader.ts"),
    import("../../server/network/net-log.ts"),
  ]);
  const found = await withLedgerReader(stateDirectoryOf(flags), (reader) => explainCall(reader, request));
  if (found === undefined)
    throw usageError(`the ledger names no call \`${request}\`; \`handrail net log\` shows those that used the network`);
  if (flags.json) return printJson(found);
  const rules = found.rules.length === 0 ? "" : ` by ${found.rules.join(", ")}`;
  print(visible(`${found.tool} of ${found.actor}: ${found.decision}${rules}`));
  if (found.attempts.length === 0) print("it reached no host, and tried none");
  for (const attempt of found.attempts) for (const line of linesOf(attempt)) print(visible(line));
}

function linesOf({ host, port, outcome, why, grant, bytes_out: out, bytes_in: into }: ExplainedAttempt): string[] {
  const moved = out + into === 0 ? "" : ` (${out} bytes out, ${into} in)`;
  const first = `${outcome.padEnd(8)}  ${host === "" ? "no host that can be read" : `${host}:${port}`}: ${why}${moved}`;
  if (grant === undefined) return [first];
  return [first, `          what would let it through (the ${grant.by}'s to do): ${grant.change}`];
}
