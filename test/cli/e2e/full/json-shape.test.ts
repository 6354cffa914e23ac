/** `--json` has one shape in every command, whether it works or not, and exit codes and `status` say the same. */
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../../../src/cli/program.ts";
import { EXIT_MEANINGS } from "../../../../src/cli/terminal/exit-codes.ts";
import { readPage } from "../../../docs/pages.ts";
import { handrail, linesOf } from "../../../support/command-line.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

/** Commands without `--json`: they serve, or print what is no data of theirs. */
const WITHOUT = ["completion", "mcp", "run", "serve", "start", "wire descriptor"];

/** Commands that make one call and print its whole result. */
const CALLS = ["call", "knowledge search"];

/** What each command is given besides `--json`, and the exit code; the others are those that work without more. */
const GIVEN: Readonly<Record<string, readonly [code: number, ...words: string[]]>> = {
  tools: [0, "read_file"],
  call: [0, "read_file", "path=a.txt"],
  calls: [0, "a.txt"],
  import: [64, "brio", "none.toml"],
  setup: [0, "gemini"],
  unsetup: [0, "gemini"],
  "upstream add": [64, "No-Name", "true"],
  "upstream show": [64, "none"],
  "upstream check": [64, "none"],
  "upstream approve": [64, "none", "--seen", "none"],
  "upstream remove": [64, "none"],
  "artifacts export": [0, "exported"],
  "artifacts verify": [64, "none"],
  "artifacts run": [64, "none.json"],
  "knowledge search": [0, "okapi"],
  "knowledge export": [0, "exported.index"],
  "knowledge import": [64, "none.index"],
  history: [0, "a.txt"],
  undo: [64, "req_none"],
  "branches create": [0, "try"],
  "branches diff": [64, "none"],
  "branches merge": [64, "none", "--yes"],
  "branches drop": [64, "none", "--yes"],
  "landings show": [64, "none"],
  "landings continue": [64, "none", "--yes"],
  "landings drop": [64, "none", "--yes"],
  "approvals show": [64, "ffff"],
  "approvals always": [64, "ffff"],
  approve: [64, "ffff"],
  deny: [64, "ffff"],
  arm: [0, "--for", "1m"],
  kill: [64],
  resume: [64, "--all"],
  "sessions revoke": [64, "ses_none"],
  "sessions freeze": [64, "ses_none"],
  "sessions resume": [64, "ses_none"],
  "leases create": [0, "--lifetime", "1h", "--git", "STATUS"],
  "leases derive": [64, "lea_none", "--lifetime", "1h"],
  "leases renew": [64, "lea_none", "--lifetime", "1h"],
  "leases release": [64, "lea_none"],
  "policy explain": [2, "write_file", "path=CLAUDE.md", "content=x"],
  "policy diff": [0, "."],
  "roles grant": [0, "dev"],
  "secrets add": [
    0,
    ...["KEY", "--from", "env:KEY", "--to", "api.example", "--in", "basic", "--placeholder", "p".repeat(20)],
  ],
  "secrets check": [1],
  "secrets rotate": [64, "NONE"],
  "secrets rm": [64, "NONE"],
  "net explain": [64, "req_none"],
  "roles revoke": [64, "sre"],
  "modes show": [64, "none"],
  "skills show": [64, "none"],
  "approvers add": [0, "ann"],
  "approvers remove": [64, "nobody"],
  "ledger show": [0, "1"],
  "ledger accept": [64, "--reason", "none is lost"],
  "labels declassify": [0, "--reason", "looked at it"],
  "cas put": [0, "a.txt"],
  "cas get": [64, "0".repeat(64)],
  redact: [0],
  "wire validate": [1, "--input", "json"],
};
/** Those that never end by themselves. */
const ENDLESS = ["approvals watch"];

interface Leaf {
  readonly words: string;
  readonly hasJson: boolean;
}

function leavesOf(command: Command, words: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length > 0) return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
  return [{ words: words.join(" "), hasJson: command.options.some(({ long }) => long === "--json") }];
}

/** What is not as it should be in what a command left; empty: nothing. */
async function faultsOf(place: Place, words: string): Promise<readonly string[]> {
  const [wanted = 0, ...given] = GIVEN[words] ?? [];
  const { code, stdout, stderr } = await handrail(place, [...words.split(" "), ...given, "--json"], { input: "{}" });
  const faults: string[] = [];
  const lines = linesOf(stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const line of lines) {
    const { status, data, error, metadata, ...more } = line;
    const problem = error as { code?: unknown; message?: unknown } | undefined;
    if (Object.keys(more).length > 0) faults.push(`members ${Object.keys(more).join(", ")}`);
    if (metadata !== undefined && !CALLS.includes(words)) faults.push("metadata");
    if (status === "success" ? data === undefined || error !== undefined : status !== "error") faults.push("status");
    if (status === "error" && !/^[A-Z_]+$/.test(String(problem?.code))) faults.push("code of the error");
    if (status === "error" && typeof problem?.message !== "string") faults.push("message of the error");
  }
  const last = lines.at(-1)?.["status"];
  if (last !== undefined && (last === "success") !== (code === 0)) faults.push(`exit code ${code} and ${String(last)}`);
  if (last === undefined && code !== 0) faults.push(`exit code ${code}, and no line`);
  if (code !== wanted) faults.push(`exit code ${code} instead of ${wanted}: ${stderr}`);
  return faults.map((fault) => `${words}: ${fault}`);
}

const leaves = leavesOf(await createProgram());

test("every command has --json but those that are listed", () => {
  expect(
    leaves
      .filter(({ hasJson }) => !hasJson)
      .map(({ words }) => words)
      .sort(),
  ).toEqual(WITHOUT);
  expect(Object.keys(GIVEN).filter((words) => !leaves.some((leaf) => leaf.words === words))).toEqual([]);
});

test("every line that is printed with --json has the one shape", { timeout: 600_000 }, async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a\n");
  place.put("workspace/handrail.yaml", "files: { secret: [keys] }\n");
  place.put("config/policy/own.cedar", "// nothing yet\n");
  await handrail(place, ["sessions", "create"]);
  const faults: string[] = [];
  for (const { words, hasJson } of leaves)
    if (hasJson && !ENDLESS.includes(words)) faults.push(...(await faultsOf(place, words)));
  expect(faults).toEqual([]);
});

test("the page lists the exit codes that the program has", () => {
  const { text } = readPage("docs/reference/commands.md");
  for (const [code, meaning] of EXIT_MEANINGS) expect(text).toContain(`| ${code} | ${meaning} |`);
});
