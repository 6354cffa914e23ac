/** `handrail doctor`: what works on this machine and what does not; exit 1 if a check failed. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { usageError } from "../../base/errors.ts";
import type { Finding } from "../../server/doctor/finding.ts";
import { directoriesOf, type KernelFlags, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { failedChecks, print, printJson, table, visible } from "../terminal/output.ts";

interface DoctorFlags {
  readonly workspace?: string;
  readonly mend?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail doctor`. */
export function addDoctorCommand(program: Command): void {
  withKernelOptions(
    program
      .command("doctor")
      .description("check this machine, the configuration and the state")
      .option(
        "--workspace <directory>",
        "look there for what killed kernels left, and for what keeps commands from running",
      )
      .option("--mend", "remove what killed kernels left")
      .option("--json", "print JSON"),
  ).action(async (flags: KernelFlags & DoctorFlags) => {
    if (flags.mend && flags.workspace === undefined)
      throw usageError("--mend needs `--workspace DIRECTORY`, which says where");
    const { diagnose } = await import("../../server/doctor/doctor.ts");
    const findings = await diagnose({
      environment: process.env,
      ...directoriesOf(flags),
      ...(flags.workspace !== undefined && {
        workspace: { path: resolve(flags.workspace), mend: flags.mend === true },
      }),
    });
    const failed = findings.filter((finding) => finding.status === "failed").length;
    if (flags.json) printJson(findings, failedChecks(failed, "of this machine, configuration and state"));
    else printFindings(findings);
    // what was skipped waits for something that failed
    process.exitCode = failed > 0 ? EXIT_FAILURE : EXIT_OK;
  });
}

/** A row for each finding; below one that is not `ok` what stands at its place, and what mends it. */
function printFindings(findings: readonly Finding[]): void {
  const rows = table(findings.map((finding) => [finding.status, finding.check, visible(placed(finding))])).split("\n");
  for (const [index, finding] of findings.entries()) {
    print(rows[index] ?? "");
    if (finding.status === "ok") continue;
    if (finding.snippet !== undefined) print(`${INDENT}| ${visible(finding.snippet)}`);
    print(`${INDENT}fix: ${visible(finding.fix)}`);
  }
}

/** As wide as the longest status. */
const INDENT = " ".repeat(10);

function placed(finding: Finding): string {
  if (finding.status === "ok" || finding.file === undefined) return finding.detail;
  const { file, line, column, detail } = finding;
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${detail}`;
}
