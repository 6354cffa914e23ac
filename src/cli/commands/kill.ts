/** `handrail kill` and `handrail resume`: the operator stops everybody or one agent at once, and lifts that again. */
import type { Command } from "commander";
import {
  type DeskFlags,
  freezeLine,
  type TargetFlags,
  targetName,
  targetOf,
  withDesk,
  withDeskOptions,
  withTargetOptions,
} from "../freeze-desk.ts";
import { currentUser } from "../inputs.ts";
import { print, printJson } from "../output.ts";

type KillFlags = DeskFlags & TargetFlags;

/** Adds `handrail kill`. */
export function addKillCommand(program: Command): void {
  const kill = program
    .command("kill")
    .description("freeze everybody or one agent at once, and end what they run; lifted by `handrail resume`");
  withDeskOptions(withTargetOptions(kill)).action((flags: KillFlags) =>
    withDesk(flags, async (desk) => {
      const freeze = await desk.freezes.kill(await targetOf(desk, flags), { by: currentUser(), reason: flags.reason });
      if (flags.json) printJson(freeze);
      else print(freezeLine(freeze));
    }),
  );
}

/** Adds `handrail resume`. */
export function addResumeCommand(program: Command): void {
  const resume = program
    .command("resume")
    .description("lift a freeze of exactly these; agents that are frozen for themselves stay so until `handrail sessions resume`");
  withDeskOptions(withTargetOptions(resume)).action((flags: KillFlags) =>
    withDesk(flags, async (desk) => {
      const lifted = await desk.freezes.resume(await targetOf(desk, flags), { by: currentUser(), reason: flags.reason });
      const others = await desk.freezes.listFreezes();
      if (flags.json) return printJson({ lifted, remaining: others });
      print(`resumed: ${targetName(lifted.target)}`);
      for (const freeze of others) print(`still frozen: ${freezeLine(freeze)}`);
    }),
  );
}
