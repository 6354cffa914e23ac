/**
 * `verify_binary`: whether a program is installed, where it should be, and is the one that it should be.
 *
 * INVARIANT: a program is started only where the operator lists it, with the arguments that the operator wrote; any
 * other is only looked at.
 */
import { z } from "zod";
import { KIB } from "../../base/bytes.ts";
import { MAX_PATH_LEN } from "../../base/limits.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import { commandOf } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import type { MachineAccess, MachineCommand } from "../../model/work/machine.ts";
import type { SystemSettings } from "../../model/work/system.ts";
import { flag, integer, text } from "../kit/result-schema.ts";
import { SYSTEM_CAPABILITY } from "./capability.ts";

/** Milliseconds that a program may take to say its version. */
const SYSTEM_VERSION_TIMEOUT_MS = 10_000;
/** Characters of what a program says of its version that are looked at. */
const VERSION_TEXT_MAX = 4 * KIB;

const parameters = z.strictObject({
  binary_name: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$/, "must be the name of a program, without a path")
    .meta({ description: "As it is called, such as `pg_dump`." }),
  path: z
    .string()
    .startsWith("/")
    .max(MAX_PATH_LEN)
    .exactOptional()
    .meta({ description: "Where it has to be, links not followed." }),
  version: z
    .string()
    .regex(/^[0-9A-Za-z][0-9A-Za-z.+~:-]{0,63}$/, "must be a version, such as `15.6`")
    .exactOptional()
    .meta({ description: "What it has to say of itself; only programs that the operator lists can be asked." }),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits")
    .exactOptional(),
});
type Arguments = z.infer<typeof parameters>;

/** The tool `verify_binary`. */
export function verifyBinary({ binaries }: SystemSettings): Tool<Arguments> {
  const commandFor = ({ binary_name: name }: Arguments): MachineCommand["argv"] | undefined => {
    const listed = Object.hasOwn(binaries, name) ? binaries[name] : undefined;
    return listed && [listed.program, ...listed.version];
  };
  return {
    name: "verify_binary",
    title: "Verify a program of the machine",
    description:
      "Says whether a program is installed and may be run, and compares its place, version or SHA-256 with what you name. `verified` says that it is " +
      "there, is to be run, and is all that you named.",
    parameters,
    outputSchema: {
      type: "object",
      properties: {
        found: flag(),
        verified: flag(),
        path: text(),
        real_path: text("With links followed."),
        problem: text("Why it is not to be run."),
        sha256: text(),
        size_bytes: integer(),
        version_text: text("The first lines that it says of its version."),
        differs: {
          type: "array",
          items: { enum: ["path", "version", "sha256"] },
          description: "What is not as you named it.",
        },
      },
      required: ["found", "verified"],
    },
    capability: SYSTEM_CAPABILITY,
    analyse(args) {
      const command = commandFor(args);
      return command === undefined ? [] : [{ resource: commandOf(command), effect: "system" }];
    },
    async execute(args, { machine }) {
      const found = await machine.find(args.binary_name);
      if (found === undefined) return { kind: "data", data: { found: false, verified: false } };
      const command = commandFor(args);
      if (command === undefined && args.version !== undefined) throw versionUnknown(args.binary_name);
      const said = command && found.problem === undefined ? await versionText(machine, command) : undefined;
      const isRunnable = found.problem === undefined && said?.isFailed !== true;
      const differs = [
        ...(args.path !== undefined && args.path !== found.path ? ["path"] : []),
        ...(args.version !== undefined && !holdsVersion(said?.text ?? "", args.version) ? ["version"] : []),
        ...(args.sha256 !== undefined && args.sha256.toLowerCase() !== found.sha256 ? ["sha256"] : []),
      ];
      const { path, realPath, problem, sha256, sizeBytes } = found;
      return {
        kind: "data",
        data: {
          found: true,
          verified: isRunnable && differs.length === 0,
          path,
          real_path: realPath,
          ...(problem !== undefined
            ? { problem }
            : said?.isFailed === true && { problem: "does not say its version when it is run" }),
          ...(sha256 !== undefined && { sha256 }),
          size_bytes: sizeBytes,
          ...(said !== undefined && { version_text: said.text }),
          differs,
        },
      };
    },
  };
}

interface Said {
  readonly text: string;
  readonly isFailed: boolean;
}

/** Some programs say it on standard error. */
async function versionText(machine: MachineAccess, argv: MachineCommand["argv"]): Promise<Said> {
  const { exitCode, stdout, stderr } = await machine.run({ argv, asRoot: false, timeoutMs: SYSTEM_VERSION_TIMEOUT_MS });
  const text = stdout.head.trim() === "" ? stderr.head : stdout.head;
  return { text: text.slice(0, VERSION_TEXT_MAX).toWellFormed().trim(), isFailed: exitCode !== 0 };
}

/** Whether `version` stands in `text` by itself: `1.2` is not said by `11.2` or `1.2.3`. */
function holdsVersion(text: string, version: string): boolean {
  return text
    .split(/[^0-9A-Za-z.+~:-]+/)
    .some((word) => word === version || word === `v${version}` || word === `${version}.`);
}

function versionUnknown(name: string): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${name}\` is not started, so its version is not known: the operator does not list it`,
    "leave `version` out and compare `sha256`, or ask the operator to list it under `system.binaries` in handrail.yaml",
  );
}
