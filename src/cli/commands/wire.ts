/** `handrail wire validate`: what the kernel's decoder and validator say of a request; nothing is executed. */
import type { Command } from "commander";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import { EXIT_FAILURE, EXIT_OK } from "../exit-codes.ts";
import { readStandardInput } from "../inputs.ts";
import { printJson } from "../output.ts";

interface WireFlags {
  readonly json?: boolean;
  readonly lines?: boolean;
}

/** Adds `handrail wire`. */
export function addWireCommand(program: Command): void {
  const wire = program.command("wire").description("work with the wire protocol");
  wire
    .command("validate")
    .description("validate ToolRequests from standard input; prints one line of JSON each")
    .option("--json", "the input is one request as proto3 JSON")
    .option("--lines", "the input is one proto3 JSON request per line")
    .action(async (flags: WireFlags) => {
      process.exitCode = await validate(flags);
    });
}

async function validate(flags: WireFlags): Promise<number> {
  const { checkRequest } = await import("../../server/wire-check.ts");
  const input = await readStandardInput(LINE_BYTES_MAX);
  let allValid = true;
  for (const request of requestsIn(input, flags)) {
    const check = checkRequest(request);
    allValid &&= check.valid;
    printJson({ valid: check.valid, violations: check.violations });
  }
  return allValid ? EXIT_OK : EXIT_FAILURE;
}

function requestsIn(input: Buffer, flags: WireFlags): readonly (string | Uint8Array)[] {
  if (flags.lines)
    return input
      .toString("utf8")
      .split("\n")
      .filter((text) => text.trim() !== "");
  return [flags.json ? input.toString("utf8") : input];
}
