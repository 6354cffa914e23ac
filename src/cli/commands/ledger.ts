/** `handrail ledger`: read the evidence, verify it, and accept what it has lost, beside running kernels. */

import type { Command } from "commander";
import { hex } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import type { LedgerReader, LedgerRecord } from "../../server/ledger/ledger-reader.ts";
import { printableJson } from "../../text/foreign-text.ts";
import { stateDirectoryOf } from "../start/freeze-options.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { currentUser, wholeNumber } from "../terminal/inputs.ts";
import { print, printJson, say, visible, wordOf } from "../terminal/output.ts";

interface LedgerFlags {
  readonly state?: string;
  readonly count: string;
  readonly json?: boolean;
}

/** Adds `handrail ledger`. */
export function addLedgerCommand(program: Command): void {
  const ledger = program.command("ledger").description("read and verify the ledger");
  withState(
    ledger
      .command("tail")
      .description("show the last entries")
      .option("-n, --count <number>", "how many, at most 256", "20"),
  ).action((flags: LedgerFlags) => tail(flags));
  withState(ledger.command("show <sequence>").description("show one entry with its payload")).action(
    (sequence: string, flags: LedgerFlags) => show(sequence, flags),
  );
  withState(ledger.command("verify").description("recompute the whole chain; exit 0 if it is intact, 1 if not")).action(
    async (flags: LedgerFlags) => {
      process.exitCode = await verify(flags);
    },
  );
  withState(
    ledger
      .command("accept")
      .description(
        "accept, in your name, that entries are lost: until then `verify` fails, and kernels do not start with a " +
          "ledger that was cut or changed (beside an empty one they begin a new chain); start kernels anew after it",
      )
      .requiredOption("--reason <text>", "why, for the record"),
  ).action((flags: LedgerFlags & { readonly reason: string }) => accept(flags));
}

async function accept(flags: LedgerFlags & { readonly reason: string }): Promise<void> {
  const { acceptLoss } = await import("../../server/ledger/ledger-acceptance.ts");
  const sequence = await acceptLoss(stateDirectoryOf(flags), { by: currentUser(), reason: flags.reason });
  if (flags.json) printJson({ accepted: sequence });
  else print(`accepted in entry ${sequence}; restart the kernels that use this state directory`);
}

function withState(command: Command): Command {
  return command
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON");
}

async function withReader<T>(flags: LedgerFlags, work: (reader: LedgerReader) => Promise<T>): Promise<T> {
  const { withLedgerReader } = await import("../../server/ledger/ledger-reader.ts");
  return withLedgerReader(stateDirectoryOf(flags), work);
}

function tail(flags: LedgerFlags): Promise<void> {
  const count = wholeNumber(flags.count, "--count");
  return withReader(flags, async (reader) => {
    const records = await reader.tail(count);
    if (flags.json) printJson(records.map(plain));
    else for (const record of records) print(line(record));
  });
}

function show(sequence: string, flags: LedgerFlags): Promise<void> {
  const wanted = wholeNumber(sequence, "the sequence");
  return withReader(flags, async (reader) => {
    const record = await reader.show(wanted);
    if (!record) throw usageError(`there is no entry ${wanted}; the ledger ends at ${(await reader.head()).sequence}`);
    if (flags.json) printJson(plain(record));
    else print(printableJson(plain(record), 2));
  });
}

async function verify(flags: LedgerFlags): Promise<number> {
  const quiet = flags.json === true || !process.stderr.isTTY;
  const report = await withReader(flags, (reader) =>
    reader.verify(quiet ? undefined : (progress) => void process.stderr.write(`\rverified ${progress.entries}`)),
  );
  if (!quiet) say("");
  const damage = report.ok
    ? undefined
    : `the ledger is damaged: ${report.problems.length} problems in ${report.entries} entries`;
  if (flags.json) printJson(report, damage === undefined ? undefined : { code: "CHECK_FAILED", message: damage });
  else {
    for (const { sequence, problem } of report.problems) print(`entry ${sequence}: ${visible(problem)}`);
    print(damage ?? `the ledger is intact: ${report.entries} entries`);
  }
  return report.ok ? EXIT_OK : EXIT_FAILURE;
}

function payloadOf(record: LedgerRecord): unknown {
  return record.payload === undefined ? null : JSON.parse(Buffer.from(record.payload).toString("utf8"));
}

function plain(record: LedgerRecord): object {
  const { entry } = record;
  const fields = Object.entries(entry).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Uint8Array ? hex(value) : value,
  ]);
  return { ...Object.fromEntries(fields), hash: hex(record.hash), payload: payloadOf(record) };
}

function line(record: LedgerRecord): string {
  const { entry } = record;
  const payload = payloadOf(record);
  const fact = (name: string) =>
    typeof payload === "object" && payload !== null && name in payload
      ? wordOf((payload as Record<string, unknown>)[name])
      : "";
  const detail = [fact("tool"), fact("reason"), fact("ruleId"), fact("errorCode")]
    .filter((part) => part !== "")
    .join(" ");
  return visible(
    `${String(entry.sequence).padStart(6)}  ${new Date(entry.timeMicros / 1000).toISOString()}  ${entry.eventType.padEnd(24)} ${detail}`,
  );
}
