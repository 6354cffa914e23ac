/** The arguments of `shell`, as APM2's `ShellExec` has them (INV-0016 to INV-0020, CTR-0011 to CTR-0014). */
import { z } from "zod";
import { CONSTRAINTS, hasMoreBytes } from "../../model/outcome/constraints.ts";
import { isRefusedEnvironmentName } from "../../names/environment-names.ts";
import { numberArgument, pathArgument, textArgument } from "../kit/argument.ts";

const COMMAND = CONSTRAINTS["shell_exec.command"];
const TIMEOUT = CONSTRAINTS["shell_exec.timeout_ms"];
const ENVIRONMENT = CONSTRAINTS["shell_exec.env"];

const NULL_BYTE = { params: { rule: "no_null_bytes" }, message: "holds a null byte; remove it" };

const variable = z
  .string()
  .refine((entry) => !hasMoreBytes(entry, ENVIRONMENT.entryBytesMax), {
    params: { rule: "max_length" },
    message: `is longer than ${ENVIRONMENT.entryBytesMax} bytes; shorten it`,
  })
  .refine((entry) => entry.split("=").length === 2, {
    params: { rule: "format" },
    message: "must hold exactly one `=`, as in `KEY=VALUE`",
  })
  .refine((entry) => !entry.includes("\0") && entry.isWellFormed(), NULL_BYTE)
  .refine((entry) => !isRefusedEnvironmentName(entry.split("=", 1)[0] ?? ""), {
    params: { rule: "environment_name" },
    message: "names a variable that decides which code programs load or run, or none at all; leave it out",
  });

/** The arguments of `shell`. */
export const parameters = z.strictObject({
  command: textArgument("Command line for bash, run without a terminal and without input.", COMMAND.max)
    .refine((text) => text.trim() !== "", {
      params: { rule: "required" },
      message: "must not be empty; say what to run",
    })
    .refine((text) => !text.includes("\0"), NULL_BYTE)
    .meta({ description: "Command line for bash, run without a terminal and without input.", minLength: 1 }),
  cwd: pathArgument("Directory to run in, relative to the workspace root. Default: the workspace root.").optional(),
  timeout_ms: numberArgument(
    "Milliseconds after which everything that runs is ended; 0 or absent: 120000.",
    0,
    TIMEOUT.max,
  ),
  network_access: z.boolean().optional().meta({
    description: "Ask for the network, for hosts that the command names and policy allows. Default false: none.",
  }),
  env: z
    .array(variable)
    .max(ENVIRONMENT.itemsMax)
    .optional()
    .meta({ description: "Environment variables besides the usual ones, each as `KEY=VALUE`." }),
});

/** What a call of `shell` says. */
export type ShellArguments = z.infer<typeof parameters>;

/** The variables by name; what is named twice has its last value. */
export function environmentOf({ env = [] }: ShellArguments): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map((entry) => entry.split("=", 2) as [string, string]));
}
