/** `handrail doctor`: what works on this machine and what does not; exit 1 if a check failed. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { EXIT_FAILURE, EXIT_OK } from "../exit-codes.ts";
import { type KernelFlags, withKernelOptions } from "../kernel-options.ts";
import { print, printJson, table, visible } from "../output.ts";

/** Adds `handrail doctor`. */
export function addDoctorCommand(program: Command): void {
  withKernelOptions(
    program.command("doctor").description("check this machine, the configuration and the state").option("--json", "print JSON"),
  ).action(async (flags: KernelFlags & { readonly json?: boolean }) => {
    const { diagnose } = await import("../../server/doctor.ts");
    const findings = await diagnose({
      environment: process.env,
      ...(flags.state !== undefined && { stateDirectory: resolve(flags.state) }),
      ...(flags.config !== undefined && { configDirectory: resolve(flags.config) }),
    });
    if (flags.json) printJson(findings);
    else print(table(findings.map((finding) => [finding.status, finding.check, visible(finding.detail)])));
    process.exitCode = findings.some((finding) => finding.status === "failed") ? EXIT_FAILURE : EXIT_OK;
  });
}
