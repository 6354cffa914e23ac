/**
 * Records that the operator trusts a workspace's configuration files as they are now (`handrail trust`).
 *
 * It also lists trust and takes it back.
 */
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { TrustReport } from "../../server/workspace/trust.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, table, visible } from "../terminal/output.ts";

interface TrustFlags extends KernelFlags {
  readonly workspace: string;
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail trust`. */
export function addTrustCommand(program: Command): void {
  const command = program
    .command("trust")
    .description("trust the configuration files of a workspace as they are now; a changed file is untrusted again")
    .option("--workspace <directory>", "workspace root", ".")
    .option("--list", "show the trusted workspaces, and which of them have changed")
    .option("--revoke", "take trust back")
    .option("--json", "print JSON");
  withKernelOptions(command).action((flags: TrustFlags) => trust(flags));
}

async function trust(flags: TrustFlags): Promise<void> {
  if (flags.list && flags.revoke) throw usageError("`--list` and `--revoke` do not go together; use one of them");
  const reports = await withKernel(flags, async ({ trust: desk }) => {
    if (flags.list) return desk.list();
    return [
      flags.revoke
        ? await desk.revoke(flags.workspace, currentUser())
        : await desk.trust(flags.workspace, currentUser()),
    ];
  });
  if (flags.json) printJson(flags.list ? reports : (reports[0] ?? {}));
  else if (flags.list) printList(reports);
  else for (const report of reports) print(visible(sentence(report)));
}

function printList(reports: readonly TrustReport[]): void {
  const rows = reports.map(({ workspace, state, trustedAt = "", trustedBy = "" }) => [
    visible(workspace),
    state,
    trustedAt,
    visible(trustedBy),
  ]);
  print(rows.length === 0 ? "no workspace is trusted" : table([["WORKSPACE", "STATE", "TRUSTED", "BY"], ...rows]));
}

function sentence({ workspace, state, files, widens }: TrustReport): string {
  if (state !== "trusted") return `${workspace} is no longer trusted: its own configuration can only narrow`;
  const names = Object.entries(files).map(
    ([name, digest]) => `${name} ${digest === null ? "absent" : `blake3:${digest}`}`,
  );
  const effect = widens.length === 0 ? "it widens nothing" : `${widens.join(", ")} takes effect`;
  return `${workspace} is trusted as it is: ${names.join(", ")}; ${effect}`;
}
