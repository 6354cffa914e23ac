/** `handrail kill` and `handrail resume`: the operator stops everybody or one agent at once, and lifts that again. */
import type { Command } from "commander";
import type { FreezeDesk, FreezeTarget } from "../../server/people/freeze-desk.ts";
import {
  type DeskFlags,
  freezeLine,
  type TargetFlags,
  targetName,
  targetOf,
  withDesk,
  withDeskOptions,
  withTargetOptions,
} from "../start/freeze-options.ts";
import { currentUser } from "../terminal/inputs.ts";
import { print, printJson, say } from "../terminal/output.ts";

type KillFlags = DeskFlags & TargetFlags;

/** Adds `handrail kill`. */
export function addKillCommand(program: Command): void {
  const kill = program
    .command("kill")
    .description("freeze everybody or one agent at once, and end what they run; lifted by `handrail resume`");
  withDeskOptions(withTargetOptions(kill)).action((flags: KillFlags) =>
    withDesk(flags, async (desk) => {
      const freeze = await desk.freezes.kill(await targetOf(desk, flags), { by: currentUser(), reason: flags.reason });
      await warnOfNobody(desk, freeze.target);
      if (flags.json) printJson(freeze);
      else print(freezeLine(freeze));
    }),
  );
}

/** A misspelt agent is frozen as well, and the one that was meant goes on. */
async function warnOfNobody(desk: FreezeDesk, target: FreezeTarget): Promise<void> {
  if (target.scope === "all") return;
  const { userId, agentId, serviceRoot } = { serviceRoot: undefined, ...target };
  const sessions = (await desk.sessions.listSessions()).filter(
    (session) => session.userId === userId && session.agentId === agentId,
  );
  if (sessions.some((session) => serviceRoot === undefined || session.serviceRoot === serviceRoot)) return;
  say(
    `handrail: ${targetName(target)} has no session here, so look whether the name is right: \`handrail sessions list\` shows them`,
  );
}

/** Adds `handrail resume`. */
export function addResumeCommand(program: Command): void {
  const resume = program
    .command("resume")
    .description(
      "lift a freeze of exactly these; agents that are frozen for themselves stay so until `handrail sessions resume`",
    );
  withDeskOptions(withTargetOptions(resume)).action((flags: KillFlags) =>
    withDesk(flags, async (desk) => {
      const lifted = await desk.freezes.resume(await targetOf(desk, flags), {
        by: currentUser(),
        reason: flags.reason,
      });
      const others = await desk.freezes.listFreezes();
      if (flags.json) return printJson({ lifted, remaining: others });
      print(`resumed: ${targetName(lifted.target)}`);
      for (const freeze of others) print(`still frozen: ${freezeLine(freeze)}`);
    }),
  );
}
