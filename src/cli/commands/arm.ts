/** `handrail arm` and `handrail disarm`: the operator lets calls that need arming run for a while, or ends that. */
import type { Command } from "commander";
import type { OpenKernel } from "../../server/compose.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { currentUser, parseDuration } from "../terminal/inputs.ts";
import { print, printJson, visible } from "../terminal/output.ts";

interface ArmFlags extends KernelFlags {
  readonly for: string;
  readonly session?: string;
  readonly json?: boolean;
}

type Armings = Awaited<ReturnType<OpenKernel["arming"]["list"]>>;

/** Adds `handrail arm`. */
export function addArmCommand(program: Command): void {
  const command = program
    .command("arm")
    .description("let calls that need arming run for a while; recorded with your name, and lapses by itself")
    .requiredOption("--for <duration>", "such as 15m; at most a day")
    .option("--session <id>", "only this session (default: all)")
    .option("--json", "print JSON");
  withKernelOptions(command).action((flags: ArmFlags) =>
    withKernel(flags, async ({ arming }) => {
      const armed = await arming.arm(flags.session, parseDuration(flags.for), currentUser());
      if (flags.json) printJson(armed);
      else showArmings([armed]);
    }),
  );
}

/** Adds `handrail disarm`. */
export function addDisarmCommand(program: Command): void {
  const command = program
    .command("disarm")
    .description("end arming at once; a kernel that was started with TOOLS_ARM=1 stays armed until it ends")
    .option("--session <id>", "only what was armed for this session (default: everything)")
    .option("--json", "print JSON");
  withKernelOptions(command).action((flags: ArmFlags) =>
    withKernel(flags, async ({ arming }) => {
      const left = await arming.disarm(flags.session, currentUser());
      if (flags.json) printJson(left);
      else showArmings(left);
    }),
  );
}

function showArmings(armings: Armings): void {
  if (armings.length === 0) print("nothing is armed");
  for (const { sessionId, untilMs, armedBy } of armings)
    print(`${sessionId ?? "all sessions"}  armed until ${new Date(untilMs).toISOString()} by ${visible(armedBy)}`);
}
