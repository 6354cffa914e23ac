/**
 * `handrail wire`: what the kernel's decoder and validator say of a request, and the contract for clients of any
 * language.
 */
import { type Command, Option } from "commander";
import { textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import { LINE_BYTES_MAX } from "../../base/limits.ts";
import { EXIT_FAILURE, EXIT_OK } from "../terminal/exit-codes.ts";
import { readStandardInput } from "../terminal/inputs.ts";
import { print, printJson, visible } from "../terminal/output.ts";

interface WireFlags {
  readonly input: (typeof INPUTS)[number];
  readonly json?: boolean;
}

/** How requests can be written on standard input. */
const INPUTS = ["binary", "json", "lines"] as const;

/** Adds `handrail wire`. */
export function addWireCommand(program: Command): void {
  const wire = program.command("wire").description("work with the wire protocol");
  wire
    .command("validate")
    .description("validate ToolRequests from standard input; exit 1 if one is not valid")
    .addOption(
      new Option("--input <format>", "one encoded request, one as proto3 JSON, or one proto3 JSON request per line")
        .choices(INPUTS)
        .default("binary"),
    )
    .option("--json", "print JSON, one line for each request")
    .action(async (flags: WireFlags) => {
      process.exitCode = await validate(flags);
    });
  wire
    .command("descriptor")
    .description(
      "print the services and messages as a binary FileDescriptorSet, for `buf curl --schema` and code generators",
    )
    .action(async () => {
      process.exitCode = await writeDescriptor();
    });
}

async function writeDescriptor(): Promise<number> {
  if (process.stdout.isTTY) {
    throw usageError("the descriptor is binary; write it to a file: `handrail wire descriptor > handrail.binpb`");
  }
  const { descriptorSet } = await import("../../server/doors/wire-descriptor.ts");
  process.stdout.write(descriptorSet());
  return EXIT_OK;
}

async function validate(flags: WireFlags): Promise<number> {
  const { checkRequest } = await import("../../server/doors/wire-check.ts");
  const input = await readStandardInput(LINE_BYTES_MAX);
  let allValid = true;
  for (const request of requestsIn(input, flags)) {
    const check = request === undefined ? NOT_UTF8 : checkRequest(request);
    allValid &&= check.valid;
    if (flags.json) printJson({ valid: check.valid, violations: check.violations }, problemOf(check));
    else print(check.valid ? "valid" : check.violations.map(violationLine).join("\n"));
  }
  return allValid ? EXIT_OK : EXIT_FAILURE;
}

function problemOf({ valid, violations }: Check) {
  return valid ? undefined : { code: "CHECK_FAILED", message: `the request has ${violations.length} violations` };
}

interface Check {
  readonly valid: boolean;
  readonly violations: readonly { readonly field: string; readonly rule: string; readonly message: string }[];
}

function violationLine({ field, rule, message }: Check["violations"][number]): string {
  return visible(`not valid: ${field === "" ? "" : `${field}: `}${message} (${rule})`);
}

/** JSON that is not UTF-8 is no request at all. */
const NOT_UTF8 = { valid: false, violations: [{ field: "", rule: "decode", message: "the request is not UTF-8" }] };

/** The requests of the input; `undefined` stands for one that is not UTF-8. */
function requestsIn(input: Buffer, flags: WireFlags): readonly (string | Uint8Array | undefined)[] {
  if (flags.input === "lines") return linesOf(input).filter((text) => text?.trim() !== "");
  return [flags.input === "json" ? textOf(input) : input];
}

/** Each line by itself, so that one bad line says nothing about the others. */
function linesOf(input: Buffer): readonly (string | undefined)[] {
  const lines: (string | undefined)[] = [];
  let start = 0;
  for (let end = input.indexOf(10); end !== -1; end = input.indexOf(10, start)) {
    lines.push(textOf(input.subarray(start, end)));
    start = end + 1;
  }
  lines.push(textOf(input.subarray(start)));
  return lines;
}
